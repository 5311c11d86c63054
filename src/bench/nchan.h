// nchan, the publish/subscribe module of nginx, is the usual way to send events to many WebSockets. Uses one worker.
#pragma once

#include <filesystem>
#include <memory>

#include "bench/process.h"
#include "bench/target.h"

namespace shepherd::bench {

// Owns the process. nchan stores nothing on disk and accepts one event per POST.
// Threads: caller.
class Nchan final : public Target {
 public:
  // `directory` must be empty. not_found/not_installed names the packages.
  static Result<Nchan> start(const std::filesystem::path& directory, int core);
  Result<LoadPlan> plan(const Shape& shape) override;

 private:
  Nchan(Process process, std::uint16_t port) : process_(std::move(process)), at_{.port = port} {}

  Process process_;
  Address at_;
  std::uint64_t made_ = 0;
  std::unique_ptr<HttpWire> wire_;
};

}  // namespace shepherd::bench
