// What a consumer has seen of one task's log, and whether the next message may follow it. This is where "never lost,
// never repeated" is checked rather than hoped for.
// Threads: caller.
#pragma once

#include <cstdint>
#include <optional>

namespace shepherd {

class LogCursor {
 public:
  enum class Step {
    take,    // the next event
    repeat,  // seen before: not shown again
    hole,    // something is missing before it
  };

  // filtered: the consumer asked for some types only, so numbers may jump forward.
  explicit LogCursor(bool filtered) : filtered_(filtered) {}

  void start_after(std::uint64_t number) { last_ = number; }
  // The newest number seen; nullopt before the first one of a consumer that did not say where to start.
  std::optional<std::uint64_t> last() const { return last_; }

  Step event(std::uint64_t number);
  // Retention removed from..to: announced, so not a hole.
  Step gap(std::uint64_t from, std::uint64_t to);
  // `position` and `caught_up`: the server says that everything the consumer asked for up to here was sent.
  Step reached(std::uint64_t number);

 private:
  bool follows(std::uint64_t number) const { return !last_ || filtered_ || number == *last_ + 1; }

  bool filtered_;
  std::optional<std::uint64_t> last_;
};

}  // namespace shepherd
