// Encodes responses as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace shepherd::net {

// "Sun, 06 Nov 1994 08:49:37 GMT", formatted once a second.
// Threads: strand.
class DateText {
 public:
  std::string_view at(std::int64_t wall_ms);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

struct HeadOptions {
  std::string_view date;
  std::string_view connection;                // "close", "keep-alive", "Upgrade"; empty for no header
  std::optional<std::size_t> content_length;  // nullopt if the body has no length (a stream, 101, 204, 304)
};

// Appends status line, headers and the empty line. Control characters in header values become spaces, because a handler
// may echo a client's text.
void append_head(std::string& out, const Response& response, const HeadOptions& options);

// Responses with this status never have a body (RFC 9110).
bool bodiless(int status);

std::string_view reason_phrase(int status);

}  // namespace shepherd::net
