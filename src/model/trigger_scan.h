// The prefilter of redaction: finds places where a built-in shape may start, at memory speed.
//
// A bitmap over all groups of three bytes that triggers begin with is asked at every second byte; few texts hit it, and
// a hit costs a closer look.
// Threads: value after construction (const methods from any thread).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/secret_shapes.h"

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
  static constexpr unsigned kSlotsPerBucketLog = 4;
  TriggerScan();
  static std::uint32_t slot(const char* three_bytes_of_four);
  template <class Visit>
  bool visit(std::string_view text, std::size_t at, Visit accept) const;
  using Bits = std::array<std::uint64_t, 1024>;  // 65,536 slots of hashed groups
  static bool is_set(const Bits& bits, std::uint32_t slot) { return (bits[slot >> 6] >> (slot & 63) & 1) != 0; }
  static void set(Bits& bits, std::uint32_t slot) { bits[slot >> 6] |= std::uint64_t{1} << (slot & 63); }
  bool may_start(std::string_view text, std::size_t at) const;

  Bits asked_{};                                                             // the first two groups of all triggers
  Bits first_{};                                                             // the first alone: where one may start
  std::vector<Head> heads_;                                                  // by slot
  std::array<std::uint16_t, (65'536 >> kSlotsPerBucketLog) + 1> buckets_{};  // where the heads of 16 slots begin
};

}  // namespace shepherd
