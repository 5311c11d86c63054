#include "bench/publish_wire.h"

#include <fmt/format.h>

#include <iterator>

#include "bench/http_text.h"

namespace shepherd::bench {

HttpWire::HttpWire(const Address& at, const std::vector<std::string>& targets, const std::string& headers) {
  heads_.reserve(targets.size());
  for (const std::string& target : targets) {
    heads_.push_back(
        fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\n{}Content-Length: ", target, at.authority(), headers));
  }
}

void HttpWire::append_request(std::string& out, std::size_t channel, std::string_view body) const {
  out += heads_[channel];
  fmt::format_to(std::back_inserter(out), "{}\r\n\r\n", body.size());
  out += body;
}

Result<std::size_t> HttpWire::read_answer(std::string_view in) const {
  Result<AnswerHead> head = read_answer_head(in);
  if (!head) return fail(head.error());
  if (head->bytes == 0 || in.size() < head->bytes + head->body_bytes) return 0;
  if (head->status / 100 != 2 || head->chunked) {
    return fail(ErrorCode::unavailable, "refused",
                fmt::format("a POST was answered {}: {}", head->status, in.substr(head->bytes, 300)));
  }
  return head->bytes + head->body_bytes;
}

}  // namespace shepherd::bench
