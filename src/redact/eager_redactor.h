// Redaction of text that a person reads while it is written: plain words leave at once, and only what may be part of a
// secret waits.
//
// StreamRedactor lets nothing go that could still turn out to be a secret, so the newest words always wait. That is
// right for text whose reader does not mind. Here a reader waits for every word. So a word leaves at once unless it, or
// what stands before it, looks like the beginning of a secret; from there on StreamRedactor decides. What leaves, put
// together, is what redact() makes of the whole, except that the first letters of a secret may have left before it
// looked like one: at most kPlainWordBytes of it, fewer than kPlainDigits of a number, and nothing of an exact value.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>

#include "redact/stream_redactor.h"

namespace shepherd {

class EagerRedactor {
 public:
  // The redactor must outlive it.
  explicit EagerRedactor(const Redactor& redactor) : redactor_(&redactor), stream_(redactor) {}

  // Takes the next piece, whole characters; what may be shown now.
  std::string add(std::string_view piece);
  // The stream has ended: the rest of it. Another one may begin.
  std::string finish();

 private:
  bool plain(std::string_view text) const;
  std::string without_shown(std::string text);

  const Redactor* redactor_;
  StreamRedactor stream_;
  bool holding_ = false;
  std::string shown_;    // the newest of what has left, which what follows may make part of a secret
  std::string skipped_;  // of it, what the stream's redactor has not repeated yet
};

}  // namespace shepherd
