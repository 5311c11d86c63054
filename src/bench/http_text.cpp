#include "bench/http_text.h"

#include <fmt/format.h>
#include <strings.h>

#include <charconv>

namespace shepherd::bench {
namespace {

constexpr std::size_t kMaxHeadBytes = 64 * 1024;

}  // namespace

std::string_view header_value(std::string_view head, std::string_view name) {
  std::size_t at = head.find("\r\n");
  while (at != std::string_view::npos && at + 2 < head.size()) {
    std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      std::string_view value = line.substr(name.size() + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      while (value.ends_with(' ')) value.remove_suffix(1);
      return value;
    }
    at = head.find("\r\n", at + 2);
  }
  return {};
}

Result<AnswerHead> read_answer_head(std::string_view text) {
  AnswerHead head;
  std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (text.size() > kMaxHeadBytes) return fail(ErrorCode::unavailable, "bad_answer", "the answer's head has no end");
    return head;
  }
  if (!text.starts_with("HTTP/1.1 ")) {
    return fail(ErrorCode::unavailable, "bad_answer", fmt::format("not HTTP/1.1: {}", text.substr(0, 40)));
  }
  std::from_chars(text.data() + 9, text.data() + 12, head.status);
  head.bytes = end + 4;
  std::string_view lines = text.substr(0, end + 2);
  std::string_view length = header_value(lines, "Content-Length");
  std::from_chars(length.data(), length.data() + length.size(), head.body_bytes);
  head.chunked = header_value(lines, "Transfer-Encoding").find("chunked") != std::string_view::npos;
  return head;
}

}  // namespace shepherd::bench
