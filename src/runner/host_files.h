// The files of a task's directory, for its agent. No path leads out of it (tools/file_root.h).
//
// The runner may read more than its agent, so what is hidden from agents stays hidden here, and the directory is the
// one that was there before the agent began, whatever the agent renames.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "driver/host_call.h"
#include "tools/file_root.h"

namespace shepherd {

// Paths are relative to the directory, or absolute and below it. Errors are for the agent: those of FileRoot,
// too_large/file_too_large, unsupported_media_type/not_text. Everything blocks. Threads: any.
class HostFiles {
 public:
  // unavailable/no_directory if it cannot be read.
  static Result<HostFiles> open(const std::string& directory, std::vector<std::string> hidden);

  Result<std::string> read(const ReadFile& request) const;
  Result<void> write(const WriteFile& request) const;
  // The path without links of a directory inside.
  Result<std::string> directory(const std::string& path) const;

 private:
  HostFiles(std::string given, FileRoot root) : given_(std::move(given)), root_(std::move(root)) {}
  Result<std::string> relative(const std::string& path) const;

  std::string given_;  // its name in the agent's eyes, which may have links
  FileRoot root_;
};

}  // namespace shepherd
