// Whether one subscriber got every event of its channel once and in order. Each stream (publisher) of the channel is
// numbered from 0 by itself; order between streams is nobody's promise.
//
// An event that arrives after a higher one is out of order; one that arrives again is repeated; what never arrives is
// missing. A hole costs one map entry however wide it is.
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
  // `first`: the number that each stream starts with.
  explicit OrderChecker(std::size_t streams, std::uint32_t first = 0) : next_(streams, first) {}

  // False: there is no such stream, so the event is not this channel's.
  bool receive(std::uint32_t stream, std::uint32_t sequence) {
    if (stream >= next_.size()) return false;
    if (sequence == next_[stream]) [[likely]] {
      ++next_[stream];
    } else {
      receive_unexpected(stream, sequence);
    }
    return true;
  }

  // What was wrong, given how many events each stream has sent. More received than sent counts as repeated.
  Defects finish(std::span<const std::uint32_t> sent) const;

 private:
  // [first, second) has not arrived though something later has, by (stream, first).
  using Holes = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

  void receive_unexpected(std::uint32_t stream, std::uint32_t sequence);
  bool fill_hole(std::uint32_t stream, std::uint32_t sequence);

  std::vector<std::uint32_t> next_;
  std::unique_ptr<Holes> holes_;  // made when the first hole appears: thousands of checkers never need it
  std::uint64_t repeated_ = 0;
  std::uint64_t disorder_ = 0;
};

}  // namespace shepherd::bench
