// Protobuf's wire format written straight into memory, for the one message that is built by the million. Fields must be
// written in the order of their numbers, as the generated code does; empty ones are left out.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace shepherd {

// Its maker owns the memory and must provide enough: kMostOfField for each field beside the bytes of texts.
// Threads: value.
class ProtoBytes {
 public:
  // A tag of up to three bytes and a varint; or a tag, a length and a whole Timestamp.
  static constexpr std::size_t kMostOfField = 24;

  explicit ProtoBytes(char* at) : at_(at) {}
  char* end() const { return at_; }

  void number(int field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, kVarint);
    varint(value);
  }
  void text(int field, std::string_view text) {
    if (text.empty()) return;
    tag(field, kLengthDelimited);
    varint(text.size());
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  // A google.protobuf.Timestamp.
  void time(int field, std::int64_t wall_ms) {
    tag(field, kLengthDelimited);
    char* length = at_++;  // one byte: the message is short
    number(1, static_cast<std::uint64_t>(wall_ms / 1000));
    number(2, static_cast<std::uint64_t>(wall_ms % 1000 * 1'000'000));
    *length = static_cast<char>(at_ - length - 1);
  }

 private:
  static constexpr std::uint32_t kVarint = 0, kLengthDelimited = 2;  // wire types

  void tag(int field, std::uint32_t wire_type) { varint(static_cast<std::uint32_t>(field) << 3U | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) *at_++ = static_cast<char>(value | 0x80U);
    *at_++ = static_cast<char>(value);
  }

  char* at_;
};

}  // namespace shepherd
