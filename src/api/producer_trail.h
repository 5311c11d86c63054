// The audit record of a producer's posts. Consecutive posts of one connection to one task form a stream and share a
// record with the range of numbers they added. The record is written when the connection closes or changes to another
// task, or after kProducerTrail.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "access/audit.h"
#include "access/principal.h"
#include "base/clock.h"

namespace shepherd {

// Threads: posted() from any; the rest caller.
class ProducerTrail {
 public:
  // `record` has the caller, the address and the request; range and duration are set at the end.
  ProducerTrail(Audit& audit, const Clock& clock, std::shared_ptr<const Principal> principal, std::string task,
                AuditRecord record);
  ~ProducerTrail();
  ProducerTrail(const ProducerTrail&) = delete;
  ProducerTrail& operator=(const ProducerTrail&) = delete;

  bool goes_on(const std::shared_ptr<const Principal>& principal, std::string_view task) const;
  void posted(std::uint64_t first, std::uint64_t last);

 private:
  Audit& audit_;
  const Clock& clock_;
  std::shared_ptr<const Principal> principal_;
  std::string task_;
  AuditRecord record_;
  std::int64_t begun_ms_;
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> last_{0};
  std::atomic<bool> posted_{false};
};

}  // namespace shepherd
