// The audit: one record per request or stream, written behind to audit.ndjson in the data directory (rotated by size,
// kAuditFiles kept). Recording never blocks: when the disk cannot follow, records are dropped and counted, and the next
// record says how many. Never holds secrets or event content.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "base/result.h"

namespace shepherd {

struct AuditRecord {
  std::int64_t at_ms = 0;
  std::string person, token_id;  // empty: anonymous
  std::string peer;              // address
  std::string method, path;      // without the query: it may hold a ticket
  int status = 0;
  std::string reason;                  // error word of a refusal
  std::int64_t first = -1, last = -1;  // streams and pages: the range of numbers that went out; -1: none
  std::int64_t duration_ms = 0;
};

// open() returns the one that writes the file: it owns its thread and file, and its destructor writes what is queued.
// An interface, because tests record in memory. Threads: any.
class Audit {
 public:
  static Result<std::unique_ptr<Audit>> open(const std::string& directory, MetricRegistry& metrics);
  virtual ~Audit() = default;
  virtual void record(AuditRecord record) = 0;
};

}  // namespace shepherd
