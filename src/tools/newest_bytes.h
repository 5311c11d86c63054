// The newest bytes of an output that can be endless. Threads: caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

// Holds at most twice as many bytes as it keeps.
class NewestBytes {
 public:
  explicit NewestBytes(std::size_t most) : most_(most) {}

  void add(std::string_view bytes) {
    total_ += bytes.size();
    if (bytes.size() > 2 * most_) bytes.remove_prefix(bytes.size() - most_);
    bytes_.append(bytes);
    // Cut rarely, so that small pieces cost no copy each.
    if (bytes_.size() > 2 * most_) bytes_.erase(0, bytes_.size() - most_);
  }
  std::string_view bytes() const {
    std::string_view newest = bytes_;
    newest.remove_prefix(newest.size() - std::min(newest.size(), most_));
    return newest;
  }
  bool empty() const { return bytes_.empty(); }
  std::uint64_t total() const { return total_; }  // of all that were added

 private:
  std::size_t most_;
  std::string bytes_;
  std::uint64_t total_ = 0;
};

}  // namespace shepherd
