// The audit: one record per request or stream, written in the background to audit.ndjson in the data directory (rotated
// by size, kAuditFiles kept). Recording never blocks: if the disk is too slow, records are dropped and counted, and the
// next record has the number. Records contain no secrets and no event content.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "base/result.h"

namespace shepherd {

struct AuditRecord {
  std::int64_t at_ms = 0;
  std::string person, token_id;  // empty if anonymous
  std::string peer;              // address
  std::string method, path;      // without the query, which may contain a ticket
  int status = 0;
  std::string reason;                  // error code of a refusal
  std::int64_t first = -1, last = -1;  // for streams and pages, the range of numbers sent; -1 for none
  std::int64_t duration_ms = 0;
};

// open() returns the implementation that writes the file. It owns its thread and file, and its destructor writes the
// queue. An interface, because tests record in memory. Threads: any.
class Audit {
 public:
  static Result<std::unique_ptr<Audit>> open(const std::string& directory, MetricRegistry& metrics);
  virtual ~Audit() = default;
  virtual void record(AuditRecord record) = 0;
};

}  // namespace shepherd
