// What is needed to start another program's server: the program's path, a port, and a check that it is ready.
// Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "bench/process.h"

namespace shepherd::bench {

// A directory that its owner deletes in its destructor.
class ScratchDirectory {
 public:
  // Creates it below `parent` (empty: the system's temporary directory). unavailable/no_directory.
  static Result<ScratchDirectory> create(const std::string& parent);
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchDirectory();

  const std::filesystem::path& path() const { return path_; }
  // Creates an empty directory inside.
  std::filesystem::path make(const std::string& name) const;
  // Keeps the directory after the owner is destroyed.
  void keep() { kept_ = true; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  bool kept_ = false;
};

// Finds the program in PATH or the system's directories; not_found/not_installed names the Debian package.
Result<std::string> find_program(const std::string& name, const std::string& package);

// A currently unused port of 127.0.0.1.
Result<std::uint16_t> free_port();

// Waits until a process listens there. unavailable/not_started if `process` ends first or the time is over.
Result<void> wait_for_port(Process& process, std::uint16_t port, double seconds);

}  // namespace shepherd::bench
