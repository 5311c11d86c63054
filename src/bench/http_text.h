// The few things about HTTP answers that a load tool looks at.
// Threads: value.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace shepherd::bench {

struct AnswerHead {
  std::size_t bytes = 0;  // of status line and headers with the empty line; 0: not all there yet
  int status = 0;
  std::size_t body_bytes = 0;  // Content-Length
  bool chunked = false;
};

// unavailable/bad_answer when it is not HTTP.
Result<AnswerHead> read_answer_head(std::string_view text);

// The value of a header in a block of header lines, without surrounding blanks; empty: it is not there.
std::string_view header_value(std::string_view head, std::string_view name);

}  // namespace shepherd::bench
