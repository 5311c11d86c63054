// Whether an agent's messages come with the numbers they should have: each one more than the last.
//
// A number of 0 is none: such messages are not checked. Nothing is held back; what is wrong is only named.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

namespace shepherd {

class SequenceCheck {
 public:
  enum class Found : std::uint8_t {
    right,
    gap,     // first() to last() are missing
    repeat,  // the very message that came before under this number
    reused,  // another message under a number that was used
    late,    // a number that was missing
  };

  Found look(std::int64_t number, std::string_view message);
  // Of a gap.
  std::int64_t first_missing() const { return first_missing_; }
  std::int64_t last_missing() const { return last_missing_; }

 private:
  struct Seen {
    std::int64_t number;
    std::size_t content;
  };

  void remember(std::int64_t number, std::size_t content);

  std::int64_t newest_ = 0;
  std::int64_t first_missing_ = 0, last_missing_ = 0;
  std::deque<Seen> seen_;  // the newest kRecentMessages
};

}  // namespace shepherd
