// The parts of HTTP answers that a load tool reads.
// Threads: value.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace shepherd::bench {

struct AnswerHead {
  std::size_t bytes = 0;  // of status line and headers with the empty line; 0: not complete yet
  int status = 0;
  std::size_t body_bytes = 0;  // Content-Length
  bool chunked = false;
};

// unavailable/bad_answer if it is not HTTP.
Result<AnswerHead> read_answer_head(std::string_view text);

// The value of a header in a block of header lines, without surrounding blanks; empty if it is absent.
std::string_view header_value(std::string_view head, std::string_view name);

}  // namespace shepherd::bench
