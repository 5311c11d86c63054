// nchan, the publish/subscribe module of nginx: the usual way to fan events out to many WebSockets. One worker.
#pragma once

#include <filesystem>
#include <memory>

#include "bench/process.h"
#include "bench/target.h"

namespace shepherd::bench {

// Owns the process. It keeps nothing on disk and takes one event a POST.
// Threads: caller.
class Nchan final : public Target {
 public:
  // `directory`: an empty one. not_found/not_installed names the packages.
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
