// What it takes to start somebody else's server: where the program is, a port for it, and when it is ready.
// Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "bench/process.h"

namespace shepherd::bench {

// A directory of our own that goes away with its owner.
class ScratchDirectory {
 public:
  // Below `parent` (empty: the system's place for temporary files). unavailable/no_directory.
  static Result<ScratchDirectory> create(const std::string& parent);
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchDirectory();

  const std::filesystem::path& path() const { return path_; }
  // A new empty directory inside.
  std::filesystem::path make(const std::string& name) const;
  // Stays when the owner goes.
  void keep() { kept_ = true; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  bool kept_ = false;
};

// The program in PATH or the system's directories; not_found/not_installed names the Debian package.
Result<std::string> find_program(const std::string& name, const std::string& package);

// A port of 127.0.0.1 that nobody listens on now.
Result<std::uint16_t> free_port();

// Waits until somebody listens there. unavailable/not_started when `process` ends first or the time is over.
Result<void> wait_for_port(Process& process, std::uint16_t port, double seconds);

}  // namespace shepherd::bench
