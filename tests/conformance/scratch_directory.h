// A directory for one test, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace shepherd::testing {

class ScratchDirectory {
 public:
  // in_memory: on /dev/shm where there is one, for tests that commit much and pull no plugs.
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
