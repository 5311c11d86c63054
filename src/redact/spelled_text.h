// Text as it means once a spelling is undone: percent signs decoded, lines joined that a shell would join. Secrets are
// looked for in it, and found again in the source.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redact/text_class.h"

namespace shepherd {

struct SpelledText {
  std::string_view source;  // must outlive it
  std::string text;
  std::vector<std::uint32_t> origin;  // where the spelling of each byte begins in the source
  std::vector<std::uint32_t> ends;    // where the spelling of each byte ends

  void add(char byte, std::size_t begin, std::size_t end) {
    text.push_back(byte);
    origin.push_back(static_cast<std::uint32_t>(begin));
    ends.push_back(static_cast<std::uint32_t>(end));
  }
  // A part of the text in the source; in several pieces when something between is not part of it.
  std::vector<TextSpan> in_source(TextSpan part) const;
};

// Stretches of a URL with a printable character spelled %XX in them: the next one at or after `from`; empty at the end
// of the text when there is no more.
TextSpan next_percent_run(std::string_view text, std::size_t from);
SpelledText percent_decoded(std::string_view text, TextSpan run);

// A line that ends with a backslash goes on in the next one; also where both characters are spelled as in JSON.
// The next such lines at or after `from`; empty at the end of the text when there are no more.
TextSpan next_joined_lines(std::string_view text, std::size_t from);
// Comments do not go on: a line with one is left as it is, unless `generous`.
SpelledText lines_joined(std::string_view text, TextSpan lines, bool generous);

}  // namespace shepherd
