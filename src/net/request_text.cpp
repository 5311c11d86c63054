#include "net/request_text.h"

#include <algorithm>

#include "net/text.h"

namespace shepherd::net {

namespace {

std::unexpected<Error> bad_request(const std::string& why) {
  return fail(ErrorCode::invalid_argument, "bad_request", "the request cannot be sent: " + why);
}

}  // namespace

bool is_repeatable(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

Result<std::string> request_head(const RequestText& request) {
  const std::string& target = request.url.target;
  if (request.method.empty() || !std::ranges::all_of(request.method, is_token_char)) {
    return bad_request("its method is no word");
  }
  if (!target.starts_with('/') || !std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return bad_request("its target does not start with '/' or is not percent-encoded");
  }
  std::string host = host_header(request.url);
  std::string out;
  out.reserve(512);
  out.append(request.method).append(" ");
  if (request.absolute) out.append("http://").append(host);
  out.append(target).append(" HTTP/1.1\r\n");
  bool has_host = false;
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || !std::ranges::all_of(name, is_token_char) || !std::ranges::all_of(value, is_field_char)) {
      return bad_request("the header '" + name + "' has a character that headers cannot carry");
    }
    if (equals_ignoring_case(name, "content-length") || equals_ignoring_case(name, "transfer-encoding")) {
      return bad_request("the header '" + name + "' is not the caller's");
    }
    has_host |= equals_ignoring_case(name, "host");
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!has_host) out.append("Host: ").append(host).append("\r\n");
  bool usual_body = request.method != "GET" && request.method != "HEAD";
  if (request.body_bytes > 0 || usual_body) {
    out.append("Content-Length: ").append(std::to_string(request.body_bytes)).append("\r\n");
  }
  out.append("\r\n");
  return out;
}

}  // namespace shepherd::net
