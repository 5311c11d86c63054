// Redaction of text that comes in pieces: what leaves, put together, is what redact() makes of the whole, but for white
// space before a key.
//
// A piece may end inside a secret. So the newest kDeltaTailBytes wait, back to the end of a word, and longer while a
// secret reaches into what would leave: text is only let go where redacting both sides of the cut gives the same as
// redacting all of it, also when a letter and a digit follow that tell a secret from a word. Exact values wait from
// their first character on. Bounded: when more than kMaxHeldDeltaBytes would have to wait, nothing more of the stream
// is shown.
//
// An own expression is held to this only as far as kDeltaTailBytes of it after a space are enough to match.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>

#include "redact/redact.h"

namespace shepherd {

class StreamRedactor {
 public:
  // The redactor must outlive it.
  explicit StreamRedactor(const Redactor& redactor) : redactor_(&redactor) {}

  // Takes the next piece; what may be shown now, often nothing.
  std::string add(std::string_view piece);
  // The stream has ended: the rest of it. Another one may begin.
  std::string finish();

  const std::string& held() const { return held_; }  // waits for what follows
  bool gave_up() const { return given_up_; }         // nothing more of this stream is shown

 private:
  std::size_t safe_end() const;

  const Redactor* redactor_;
  std::string held_;
  bool given_up_ = false;
};

}  // namespace shepherd
