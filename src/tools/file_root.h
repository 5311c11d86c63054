// Files below one directory. No path leads out of it: not "..", not an absolute one, not a symbolic link that points
// elsewhere, and not one that is changed meanwhile, because the kernel resolves paths below the directory's descriptor.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace shepherd {

// Paths are relative to the root. Errors are for the model: not_found/no_file, permission_denied/outside_root,
// permission_denied/no_access, invalid_argument/bad_path, conflict/wrong_kind, unavailable/file_failed; their messages
// name the path. Everything blocks. Threads: any.
class FileRoot {
 public:
  struct Options {
    std::string directory;            // absolute
    std::vector<std::string> hidden;  // absolute paths that are refused, with everything below them
    bool old_kernel = false;          // for tests: without openat2()
    // Keeps to this directory, also if its path becomes another one's; and `hidden` may be around it.
    bool pinned = false;
    std::string called = "the directory of files";  // in messages
  };
  // invalid_argument/bad_config if it is not a directory that can be read, or if it is hidden.
  static Result<FileRoot> open(Options options);

  const std::string& directory() const { return directory_; }

  // A regular file to read.
  Result<Descriptor> read(const std::string& path) const;
  // A directory to list.
  Result<Descriptor> list(const std::string& path) const;
  // Its path without links, as it is now.
  Result<std::string> real_directory(const std::string& path) const;
  // Replaces or creates a regular file: other processes see the old content or the new one. Makes its directories.
  // An existing file keeps its mode. True if it was created.
  Result<bool> write(const std::string& path, std::string_view content) const;

 private:
  struct Place {
    Descriptor directory;
    std::string name;
  };

  // A hidden file is known by its identity, too, because directories around it can be renamed.
  struct Hidden {
    std::string path;  // without links
    dev_t device = 0;
    ino_t inode = 0;  // 0: it did not exist
  };

  explicit FileRoot(const Options& options) : called_(options.called), old_kernel_(options.old_kernel) {}
  Result<Descriptor> resolve(const std::string& path, int flags) const;
  Result<Descriptor> walk(int root, const std::string& path, int flags) const;
  Result<void> check_hidden(int fd, const std::string& path) const;
  bool is_hidden(int fd) const;
  bool is_hidden_file(const struct stat& facts) const;
  Result<Place> parent_of(const std::string& path) const;
  Result<Descriptor> make_directory(const std::string& path) const;

  std::string directory_;  // without links
  Descriptor pinned_;      // may be empty
  std::vector<Hidden> hidden_;
  std::string called_;
  bool old_kernel_ = false;
};

}  // namespace shepherd
