// The prefilter of redaction: finds places where a built-in shape may start, at memory speed.
//
// A bitmap over all groups of three bytes that triggers begin with is asked at every second byte. A hit asks a second
// one, over the first four bytes, and few texts hit that. Both know the letter case: base64 and prefixes of keys have
// the groups of ordinary words, but not their case.
// Threads: value after construction (const methods from any thread).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "redact/secret_shapes.h"

namespace shepherd {

class TriggerScan {
 public:
  // Of all triggers there are.
  static const TriggerScan& all();

  // True when some trigger's may_be_secret() holds anywhere in the text (decoded, or JSON source).
  bool may_match(std::string_view text) const;

  // The first trigger (in table order) whose secret starts or is announced at text[at].
  std::vector<SecretSpan> secret_at(std::string_view text, std::size_t at, std::size_t floor) const;

 private:
  // The first bytes of a trigger as one number, so that most hits end with one comparison.
  struct Head {
    std::uint32_t slot = 0;
    std::uint32_t trigger = 0;
    std::uint32_t value = 0;
    std::uint32_t mask = 0;
  };
  static constexpr unsigned kSlotBits = 17;
  static constexpr unsigned kSlotsPerBucketLog = 4;
  using Bits = std::array<std::uint64_t, (1U << kSlotBits) / 64>;
  TriggerScan();
  static std::uint32_t slot(std::uint32_t bytes);
  static std::uint32_t group_slot(const char* three_bytes_of_four);
  static std::uint32_t start_slot(const char* four_bytes);
  void add_starts(const Trigger& trigger);
  template <class Visit>
  bool visit(std::string_view text, std::size_t at, Visit accept) const;
  bool may_start(std::string_view text, std::size_t at) const;

  Bits groups_{};            // bytes 0 to 2 and 1 to 3 of all triggers
  Bits starts_{};            // bytes 0 to 3
  std::vector<Head> heads_;  // by slot
  std::array<std::uint16_t, (1U << (kSlotBits - kSlotsPerBucketLog)) + 1>
      buckets_{};  // where the heads of 16 slots begin
};

}  // namespace shepherd
