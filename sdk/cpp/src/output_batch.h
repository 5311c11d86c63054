// Joins an agent's text until it is worth a message: by size, by age, or because the kind of text changes. A piece ends
// between characters.
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

  // False when text of the other kind waits: take() it first.
  bool accepts(bool is_reasoning) const { return text_.empty() || is_reasoning == is_reasoning_; }
  void add(std::string_view text, bool is_reasoning, Time now);
  bool is_full() const { return text_.size() >= bytes_; }
  bool is_due(Time now) const { return !text_.empty() && now - since_ >= interval_; }
  // The next piece, at most kMaxChunkBytes; nothing when no text waits.
  std::optional<Chunk> take();

  static constexpr std::size_t kMaxChunkBytes = 64 * 1024;  // far below what gRPC takes as one message

 private:
  std::size_t bytes_;
  std::chrono::milliseconds interval_;
  std::string text_;
  bool is_reasoning_ = false;
  Time since_{};
};

}  // namespace shepherd::agent
