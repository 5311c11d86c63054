// Checks whether one subscriber got every event of its channel once and in order. Each stream (publisher) of the
// channel is numbered from 0; the order between streams is not defined.
//
// An event that arrives after a higher one is out of order, one that arrives again is repeated, one that never arrives
// is missing. A hole costs one map entry, however wide it is.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shepherd::bench {

struct Defects {
  std::uint64_t missing = 0;
  std::uint64_t repeated = 0;
  std::uint64_t disorder = 0;

  bool none() const { return missing == 0 && repeated == 0 && disorder == 0; }
  Defects& operator+=(const Defects& other);
  bool operator==(const Defects&) const = default;
};

class OrderChecker {
 public:
  // `first` is the first number of each stream.
  explicit OrderChecker(std::size_t streams, std::uint32_t first = 0) : next_(streams, first) {}

  // False if the stream does not exist, so that the event belongs to another channel.
  bool receive(std::uint32_t stream, std::uint32_t sequence) {
    if (stream >= next_.size()) return false;
    if (sequence == next_[stream]) [[likely]] {
      ++next_[stream];
    } else {
      receive_unexpected(stream, sequence);
    }
    return true;
  }

  // Returns all defects, given the number of events that each stream sent. More received than sent counts as repeated.
  Defects finish(std::span<const std::uint32_t> sent) const;

 private:
  // Ranges [first, second) that have not arrived although a later event has, by (stream, first).
  using Holes = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

  void receive_unexpected(std::uint32_t stream, std::uint32_t sequence);
  bool fill_hole(std::uint32_t stream, std::uint32_t sequence);

  std::vector<std::uint32_t> next_;
  std::unique_ptr<Holes> holes_;  // created with the first hole, because most of thousands of checkers need none
  std::uint64_t repeated_ = 0;
  std::uint64_t disorder_ = 0;
};

}  // namespace shepherd::bench
