// Runs the bare server in its own process.
#pragma once

#include <memory>

#include "bench/process.h"
#include "bench/target.h"

namespace shepherd::bench {

// Owns the process. WebSocket only.
// Threads: caller; the process must have only one thread when start() is called.
class BareTarget final : public Target {
 public:
  static Result<BareTarget> start(int core);
  Result<LoadPlan> plan(const Shape& shape) override;

 private:
  BareTarget(Process process, std::uint16_t port) : process_(std::move(process)), at_{.port = port} {}

  Process process_;
  Address at_;
  std::uint64_t made_ = 0;
  std::unique_ptr<HttpWire> wire_;
};

}  // namespace shepherd::bench
