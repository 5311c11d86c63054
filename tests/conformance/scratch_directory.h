// A directory for one test, deleted at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace shepherd::testing {

class ScratchDirectory {
 public:
  // `in_memory` uses /dev/shm if it exists, for tests that commit a lot and do not simulate power cuts.
  explicit ScratchDirectory(bool in_memory = true) {
    namespace fs = std::filesystem;
    fs::path base = in_memory && fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    path_ = (base / "shepherd-store-XXXXXX").string();
    if (!::mkdtemp(path_.data())) throw std::runtime_error("no scratch directory");
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace shepherd::testing
