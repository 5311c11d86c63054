// The numbers that one producer of one task has used: all up to high(), except the holes. A strict producer has no
// holes; a fire-and-forget one may have. At most kMaxLooseHoles ranges of holes are kept. Beyond that the lowest are
// forgotten and their numbers count as used (a store then finds no event for them, see append_plan.h).
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shepherd {

class ProducerNumbers {
 public:
  std::uint64_t high() const { return high_; }
  bool used(std::uint64_t number) const;
  void use(std::uint64_t number);
  void use(std::uint64_t first, std::uint64_t count);

  // Holes as text, "3-5,9-9". decode ignores text that it cannot parse.
  std::string encode_holes() const;
  static ProducerNumbers decode(std::uint64_t high, std::string_view holes);

  friend bool operator==(const ProducerNumbers&, const ProducerNumbers&) = default;

 private:
  std::uint64_t high_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> holes_;  // [first, last], ascending, disjoint
};

}  // namespace shepherd
