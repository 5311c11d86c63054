#include "model/trigger_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "model/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kStride = 2;
constexpr std::size_t kUnrolled = 8;  // groups asked per branch

// Letter case is folded away by one bit, which also merges a few signs: more hits, never fewer.
std::uint32_t folded_word(const char* four_bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, four_bytes, 4);
  return word | 0x20202020U;
}

std::uint32_t first_three(std::uint32_t word) {
  return std::endian::native == std::endian::little ? word << 8 : word & 0xFFFFFF00U;
}

// What can follow a trigger of three bytes for anything to come of it.
bool may_follow(const Trigger& trigger, char c) {
  switch (trigger.shape) {
    case Shape::token:
    case Shape::dotted:
    case Shape::jwt:
    case Shape::infix:
      return is_in(c, kWord | kDash);
    case Shape::assignment:
      return !is_in(c, kWord);
    case Shape::url_password:
      return trigger.literal == "://" || c == '/' || c == '\\';
    default:
      return true;
  }
}

}  // namespace

std::uint32_t TriggerScan::slot(const char* three_bytes_of_four) {
  return first_three(folded_word(three_bytes_of_four)) * 2654435769U >> 16;
}

TriggerScan::TriggerScan() {
  auto all = triggers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string_view literal = all[i].literal;
    SHEPHERD_ASSERT(literal.size() >= 3, "a trigger fills a group");
    // Whichever byte of a pair the trigger starts at, one of its first two groups is asked.
    std::array<char, 4> group{literal[0], literal[1], literal[2], literal.size() > 3 ? literal[3] : '\0'};
    std::uint32_t first = slot(group.data());
    set(asked_, first);
    set(first_, first);
    Head head{.slot = first, .trigger = static_cast<std::uint32_t>(i)};
    head.mask = literal.size() > 3 ? ~0U : std::endian::native == std::endian::little ? 0xFFFFFFU : ~0xFFU;
    head.value = folded_word(group.data()) & head.mask;
    heads_.push_back(head);
    group = {literal[1], literal[2], group[3], 0};
    for (unsigned c = 0; literal.size() == 3 && c < 256; ++c) {
      group[2] = static_cast<char>(c);
      if (may_follow(all[i], group[2])) set(asked_, slot(group.data()));
    }
    if (literal.size() > 3) set(asked_, slot(group.data()));
  }
  // Those of one slot stand together, in the order of the table.
  std::ranges::sort(heads_, {}, [](const Head& head) { return std::pair(head.slot, head.trigger); });
  for (std::size_t bucket = 0, at = 0; bucket < buckets_.size(); ++bucket) {
    while (at < heads_.size() && heads_[at].slot >> kSlotsPerBucketLog < bucket) ++at;
    buckets_[bucket] = static_cast<std::uint16_t>(at);
  }
}

// Offers each trigger that text[at..] starts with to `accept` until it says true.
template <class Visit>
bool TriggerScan::visit(std::string_view text, std::size_t at, Visit accept) const {
  auto all = triggers();
  std::array<char, 4> padded{};
  bool whole = at + 4 <= text.size();
  if (!whole) std::ranges::copy(text.substr(at), padded.begin());
  const char* four = whole ? text.data() + at : padded.data();
  std::uint32_t word = folded_word(four);
  std::uint32_t wanted = slot(four);
  for (std::size_t i = buckets_[wanted >> kSlotsPerBucketLog]; i < heads_.size() && heads_[i].slot <= wanted; ++i) {
    const Head& head = heads_[i];
    if (head.slot != wanted || (whole && (word & head.mask) != head.value)) continue;
    if (starts_with_trigger(all[head.trigger], text, at) && accept(all[head.trigger])) return true;
  }
  return false;
}

const TriggerScan& TriggerScan::all() {
  static const TriggerScan scan;
  return scan;
}

bool TriggerScan::may_start(std::string_view text, std::size_t at) const {
  return visit(text, at, [&](const Trigger& trigger) { return may_be_secret(trigger, text, at); });
}

bool TriggerScan::may_match(std::string_view text) const {
  auto starts = [&](std::size_t at) { return is_set(first_, slot(text.data() + at)) && may_start(text, at); };
  auto look = [&](std::size_t at) {  // the group at `at` hit: a trigger may start here or one byte before
    return is_set(asked_, slot(text.data() + at)) && (starts(at) || (at > 0 && starts(at - 1)));
  };
  std::size_t at = 0;
  constexpr std::size_t kBlock = kStride * kUnrolled;
  for (; at + kBlock + 2 <= text.size(); at += kBlock) {
    bool any = false;
    for (std::size_t i = 0; i < kBlock; i += kStride) any |= is_set(asked_, slot(text.data() + at + i));
    if (!any) continue;
    for (std::size_t i = 0; i < kBlock; i += kStride) {
      if (look(at + i)) return true;
    }
  }
  for (; at + 4 <= text.size(); at += kStride) {
    if (look(at)) return true;
  }
  // The last few bytes do not fill a group.
  for (at = at > 0 ? at - 1 : 0; at < text.size(); ++at) {
    if (may_start(text, at)) return true;
  }
  return false;
}

std::vector<SecretSpan> TriggerScan::secret_at(std::string_view text, std::size_t at, std::size_t floor) const {
  std::vector<SecretSpan> pieces;
  if (at + 4 <= text.size() && !is_set(first_, slot(text.data() + at))) return pieces;
  bool found = visit(text, at, [&](const Trigger& trigger) {
    pieces = shepherd::secret_at(trigger, text, at, floor);
    return !pieces.empty() && pieces.front().begin >= floor;
  });
  if (!found) pieces.clear();
  return pieces;
}

}  // namespace shepherd
