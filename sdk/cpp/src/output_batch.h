// Joins an agent's text into larger messages. A message is due by size, by age, or when the kind of text changes. A
// piece never ends inside a character.
// Threads: caller.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd::agent {

class OutputBatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Chunk {
    std::string content;
    bool is_reasoning = false;
  };

  OutputBatch(std::size_t bytes, std::chrono::milliseconds interval) : bytes_(bytes), interval_(interval) {}

  // Returns false while text of the other kind waits; take() that first.
  bool accepts(bool is_reasoning) const { return text_.empty() || is_reasoning == is_reasoning_; }
  void add(std::string_view text, bool is_reasoning, Time now);
  bool is_full() const { return text_.size() >= bytes_; }
  bool is_due(Time now) const { return !text_.empty() && now - since_ >= interval_; }
  // Returns the next piece of at most kMaxChunkBytes, or nothing when no text waits.
  std::optional<Chunk> take();

  static constexpr std::size_t kMaxChunkBytes = 64 * 1024;  // far below gRPC's message limit

 private:
  std::size_t bytes_;
  std::chrono::milliseconds interval_;
  std::string text_;
  bool is_reasoning_ = false;
  Time since_{};
};

}  // namespace shepherd::agent
