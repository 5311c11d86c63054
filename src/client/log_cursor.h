// A consumer's position in one task's log. It checks whether a message may follow and so enforces "never lost, never
// repeated".
// Threads: caller.
#pragma once

#include <cstdint>
#include <optional>

namespace shepherd {

class LogCursor {
 public:
  enum class Step {
    take,    // the next event
    repeat,  // received before; not shown again
    hole,    // an event is missing before it
  };

  // filtered: the consumer requested only some types, so numbers may jump forward.
  explicit LogCursor(bool filtered) : filtered_(filtered) {}

  void start_after(std::uint64_t number) { last_ = number; }
  // The newest number received; nullopt before the first event of a consumer without a start.
  std::optional<std::uint64_t> last() const { return last_; }

  Step event(std::uint64_t number);
  // Retention removed from..to; that is announced, so it is not a hole.
  Step gap(std::uint64_t from, std::uint64_t to);
  // `position` and `caught_up`: the server has sent everything requested up to here.
  Step reached(std::uint64_t number);

 private:
  bool follows(std::uint64_t number) const { return !last_ || filtered_ || number == *last_ + 1; }

  bool filtered_;
  std::optional<std::uint64_t> last_;
};

}  // namespace shepherd
