// The tokens of one JSON text, in order: where each begins is found by simdjson's first stage, and what must hold of a
// token is checked as it is passed. Grammar is the reader's: JsonSlices.
//
// Its second stages (DOM, on-demand) do more than drivers need and cost half of a translation, so the index of the
// first is walked here. It stands in simdjson::internal, which a distribution's library does not change under us; the
// golden tests would show it. Threads: caller.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

// Its header is slow to compile, and this one is everywhere in the driver.
namespace simdjson::internal {
class dom_parser_implementation;  // NOLINT(readability-identifier-naming): simdjson's name
}

namespace shepherd {

class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // A copy of the text, up to its first token. False when it is not UTF-8, a string in it does not end or has control
  // characters, or there is no token.
  bool read(std::string_view text);
  // The same text without the blanks between tokens.
  bool read_compact();

  // The first byte of the token here; '\0' behind the last, where the index points to the text's end.
  char first() const { return data_[*at_]; }
  // From here to where the next one begins; whole when the text is compact.
  std::string_view token() const { return {data_ + at_[0], at_[1] - at_[0]}; }
  const char* position() const { return data_ + *at_; }  // the text's end behind the last token
  bool at_end() const { return at_ == end_; }
  bool had_blanks() const { return blanks_; }  // between the tokens passed so far

  // Each passes the token here when it is one; false, and stays, when not.
  bool pass_structure(char wanted) {
    if (first() != wanted) return false;
    blanks_ |= at_[1] - at_[0] != 1;
    ++at_;
    return true;
  }
  bool pass_string() {
    if (first() != '"') return false;
    blanks_ |= data_[at_[1] - 1] != '"';
    ++at_;
    return true;
  }
  bool pass_scalar() {
    char begin = first();
    return begin == '"' ? pass_string() : pass_word(begin);
  }

  // Where this byte comes next; the text's end when it does not.
  const char* find(const char* from, char byte) const {
    const void* found = std::memchr(from, byte, static_cast<std::size_t>(data_ + size_ - from));
    return found == nullptr ? data_ + size_ : static_cast<const char*>(found);
  }
  // The text of a string token, unescaped. False when an escape is wrong. Valid until the next read.
  bool unescaped(std::string_view token, std::string_view& text);

 private:
  bool index();
  bool pass_word(char begin);  // number, true, false, null

  std::unique_ptr<simdjson::internal::dom_parser_implementation> first_stage_;
  std::string buffer_;   // the text and what simdjson may read beyond
  std::string strings_;  // unescaped ones, one after the other
  std::size_t size_ = 0, capacity_ = 0, strings_used_ = 0;
  const char* data_ = nullptr;
  const std::uint32_t* at_ = nullptr;
  const std::uint32_t* end_ = nullptr;
  bool blanks_ = false;
};

}  // namespace shepherd
