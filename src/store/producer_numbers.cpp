#include "store/producer_numbers.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "store/limits.h"

namespace shepherd {

namespace {

// The first hole that ends at or after `number`.
auto hole_at(auto& holes, std::uint64_t number) {
  return std::lower_bound(holes.begin(), holes.end(), number,
                          [](const auto& hole, std::uint64_t n) { return hole.second < n; });
}

}  // namespace

bool ProducerNumbers::used(std::uint64_t number) const {
  if (number == 0 || number > high_) return false;
  auto hole = hole_at(holes_, number);
  return hole == holes_.end() || number < hole->first;
}

void ProducerNumbers::use(std::uint64_t number) {
  SHEPHERD_ASSERT(number > 0, "producers count from 1; 0 says that an event has no number");
  if (number == high_ + 1) {
    high_ = number;
    return;
  }
  if (number > high_) {
    holes_.emplace_back(high_ + 1, number - 1);
    if (holes_.size() > kMaxLooseHoles) holes_.erase(holes_.begin());
    high_ = number;
    return;
  }
  auto hole = hole_at(holes_, number);
  if (hole == holes_.end() || number < hole->first) return;
  auto [first, last] = *hole;
  if (first == last) {
    holes_.erase(hole);
  } else if (number == first) {
    hole->first = number + 1;
  } else if (number == last) {
    hole->second = number - 1;
  } else {
    hole->second = number - 1;
    holes_.insert(std::next(hole), {number + 1, last});
    if (holes_.size() > kMaxLooseHoles) holes_.erase(holes_.begin());
  }
}

void ProducerNumbers::use(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) use(first + i);
}

std::string ProducerNumbers::encode_holes() const {
  std::string out;
  for (auto [first, last] : holes_) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    out += '-';
    out += std::to_string(last);
  }
  return out;
}

ProducerNumbers ProducerNumbers::decode(std::uint64_t high, std::string_view holes) {
  ProducerNumbers numbers;
  numbers.high_ = high;
  const char* at = holes.data();
  const char* end = at + holes.size();
  while (at < end) {
    std::uint64_t first = 0, last = 0;
    auto from = std::from_chars(at, end, first);
    if (from.ec != std::errc{} || from.ptr == end || *from.ptr != '-') break;
    auto to = std::from_chars(from.ptr + 1, end, last);
    if (to.ec != std::errc{}) break;
    std::uint64_t below = numbers.holes_.empty() ? 0 : numbers.holes_.back().second;
    if (first <= below || last < first || last >= high) break;
    numbers.holes_.emplace_back(first, last);
    at = to.ptr + 1;
  }
  return numbers;
}

}  // namespace shepherd
