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

// Threads: posted(), admit() and admitted() from any; the rest caller.
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
  // Whether the task was found to be one that producers may write to, so that later posts need not look.
  void admit() { admitted_ = true; }
  bool admitted() const { return admitted_; }

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
  std::atomic<bool> admitted_{false};
};

}  // namespace shepherd
