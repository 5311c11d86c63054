// The tokens of one JSON text, in order. A token's end is looked for, and what must hold of it is checked, as it is
// passed. Grammar is the reader's: JsonSlices.
//
// A parser that makes values does more than drivers need: most of a record is passed and kept as one slice.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/blocks.h"

namespace shepherd {

class JsonTokens {
 public:
  JsonTokens() = default;
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // Keeps a copy of the text and stands at its first token. False when the text is not UTF-8 or has no token.
  bool read(std::string_view text);
  // The same text without the blanks between tokens. Only for a text of which every token was passed.
  bool read_compact();

  // The first byte of the token here; '\0' behind the last.
  char first() const { return *at_; }
  const char* position() const { return at_; }  // of that byte; the text's end behind the last token
  bool at_end() const { return at_ == end_; }
  bool had_blanks() const { return blanks_; }  // around the tokens passed so far

  // Each passes the token here when it is one; false when not. Behind false the place is that of the wrong token.
  bool pass_structure(char wanted) {
    if (*at_ != wanted) return false;
    go_to(at_ + 1);
    return true;
  }
  bool pass_string() {
    if (*at_ != '"') return false;
    const char* end = at_ + 1 + first_not_plain(at_ + 1);
    escapes_ = false;
    if (*end != '"') [[unlikely]] {
      end = string_end(end);
      if (end == nullptr) return false;
    }
    passed_ = {at_, end + 1};
    go_to(end + 1);
    return true;
  }
  bool pass_scalar() { return *at_ == '"' ? pass_string() : pass_word(); }

  // The scalar that was passed last, and a string's own text. Both are valid until the next read.
  std::string_view passed() const { return passed_; }
  std::string_view passed_text() { return escapes_ ? unescaped() : passed_.substr(1, passed_.size() - 2); }

 private:
  void begin(std::size_t size);
  bool pass_word();  // number, true, false, null
  void pass_blanks();
  const char* string_end(const char* at);  // of the closing quote, looked for from here; nullptr when there is none
  std::string_view unescaped();
  void go_to(const char* at) {
    at_ = at;
    if (static_cast<unsigned char>(*at) <= ' ') pass_blanks();
  }

  std::string buffer_;        // the text, then zeros: a block can be read at any byte of the text
  std::string strings_;       // unescaped ones, one after the other
  std::size_t capacity_ = 0;  // the longest text that both can hold
  std::size_t strings_used_ = 0;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::string_view passed_;
  bool escapes_ = false;  // in the string that was passed last
  bool blanks_ = false;
};

}  // namespace shepherd
