#include "redact/trigger_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "redact/assignment.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kStride = 2;
constexpr std::size_t kUnrolled = 8;  // groups asked per branch
// Of 100,000 random ones the one by which code, JSON and prose hit fewest slots that are set for something else.
constexpr std::uint32_t kMultiplier = 1'123'594'755U;

std::uint32_t word_at(const char* four_bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, four_bytes, 4);
  return word;
}

// Letter case is folded away by one bit, which also merges a few signs: more hits, never fewer.
std::uint32_t folded_word(const char* four_bytes) {
  return word_at(four_bytes) | 0x20202020U;
}

std::uint32_t first_three(std::uint32_t word) {
  return std::endian::native == std::endian::little ? word << 8 : word & 0xFFFFFF00U;
}

template <class Bits>
std::uint64_t bit(const Bits& bits, std::uint32_t slot) {
  return bits[slot >> 6] >> (slot & 63) & 1;
}
template <class Bits>
void set(Bits& bits, std::uint32_t slot) {
  bits[slot >> 6] |= std::uint64_t{1} << (slot & 63);
}

// What can follow a trigger of three bytes for anything to come of it.
bool may_follow(const Trigger& trigger, char c) {
  switch (trigger.shape) {
    case Shape::token:
    case Shape::dotted:
    case Shape::infix:
      // Base64 may be spelled as in a URL or in JSON.
      return is_in(c, trigger.charset) || ((trigger.charset & kBase64Sign) != 0 && (c == '%' || c == '\\'));
    case Shape::jwt:
      return is_in(c, kWord | kDash);
    case Shape::assignment:
      return may_follow_name(c);
    case Shape::url_password:
      return trigger.literal == "://" ? static_cast<unsigned char>(c) > ' ' : c == '/' || c == '\\';
    default:
      return true;
  }
}

char other_case(char c) {
  return is_in(c, kLower | kUpper) ? static_cast<char>(c ^ 0x20) : c;
}

}  // namespace

std::uint32_t TriggerScan::slot(std::uint32_t bytes) {
  return bytes * kMultiplier >> (32 - kSlotBits);
}
std::uint32_t TriggerScan::group_slot(const char* three_bytes_of_four) {
  return slot(first_three(word_at(three_bytes_of_four)));
}
std::uint32_t TriggerScan::start_slot(const char* four_bytes) {
  return slot(word_at(four_bytes));
}

// All four bytes that a text can have where the trigger starts, and so both groups of three: whichever byte of a pair
// it starts at, one of them is asked.
void TriggerScan::add_starts(const Trigger& trigger) {
  std::string_view literal = trigger.literal;
  bool short_one = literal.size() == 3;
  unsigned spellings = is_in_any_case(trigger) ? 16 : 1;
  for (unsigned last = 0; last < (short_one ? 256U : 1U); ++last) {
    char fourth = short_one ? static_cast<char>(last) : literal[3];
    if (short_one && !may_follow(trigger, fourth)) continue;
    for (unsigned spelling = 0; spelling < spellings; ++spelling) {
      std::array<char, 5> start{literal[0], literal[1], literal[2], fourth, 0};
      for (unsigned i = 0; i < 4; ++i) {
        if ((spelling >> i & 1) != 0) start[i] = other_case(start[i]);
      }
      set(groups_, group_slot(start.data()));
      set(groups_, group_slot(start.data() + 1));
      set(starts_, start_slot(start.data()));
    }
  }
}

TriggerScan::TriggerScan() {
  auto all = triggers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string_view literal = all[i].literal;
    SHEPHERD_ASSERT(literal.size() >= 3, "a trigger fills a group");
    add_starts(all[i]);
    std::array<char, 4> start{literal[0], literal[1], literal[2], literal.size() > 3 ? literal[3] : '\0'};
    std::uint32_t folded = folded_word(start.data());
    Head head{.slot = slot(first_three(folded)), .trigger = static_cast<std::uint32_t>(i)};
    head.mask = literal.size() > 3 ? ~0U : std::endian::native == std::endian::little ? 0xFFFFFFU : ~0xFFU;
    head.value = folded & head.mask;
    heads_.push_back(head);
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
  std::array<char, 4> padded{};
  bool whole = at + 4 <= text.size();
  if (whole && bit(starts_, start_slot(text.data() + at)) == 0) return false;
  if (!whole) std::ranges::copy(text.substr(at), padded.begin());
  const char* four = whole ? text.data() + at : padded.data();
  auto all = triggers();
  std::uint32_t word = folded_word(four);
  std::uint32_t wanted = slot(first_three(word));
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
  auto starts = [&](std::size_t at) { return bit(starts_, start_slot(text.data() + at)) != 0 && may_start(text, at); };
  auto look = [&](std::size_t at) {  // the group at `at` hit: a trigger may start here or one byte before
    return starts(at) || (at > 0 && starts(at - 1));
  };
  std::size_t at = 0;
  constexpr std::size_t kBlock = kStride * kUnrolled;
  for (; at + kBlock + 2 <= text.size(); at += kBlock) {
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < kUnrolled; ++i) {
      hits |= bit(groups_, group_slot(text.data() + at + i * kStride)) << i;
    }
    for (; hits != 0; hits &= hits - 1) {
      if (look(at + kStride * static_cast<std::size_t>(std::countr_zero(hits)))) return true;
    }
  }
  for (; at + 4 <= text.size(); at += kStride) {
    if (bit(groups_, group_slot(text.data() + at)) != 0 && look(at)) return true;
  }
  // The last few bytes do not fill a group.
  for (at = at > 0 ? at - 1 : 0; at < text.size(); ++at) {
    if (may_start(text, at)) return true;
  }
  return false;
}

std::vector<SecretSpan> TriggerScan::secret_at(std::string_view text, std::size_t at, std::size_t floor) const {
  std::vector<SecretSpan> pieces;
  bool found = visit(text, at, [&](const Trigger& trigger) {
    pieces = shepherd::secret_at(trigger, text, at, floor);
    return !pieces.empty() && pieces.front().begin >= floor;
  });
  if (!found) pieces.clear();
  return pieces;
}

}  // namespace shepherd
