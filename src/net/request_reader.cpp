#include "net/request_reader.h"

#include <algorithm>

#include "base/limits.h"
#include "net/limits.h"
#include "net/message_text.h"
#include "net/text.h"
#include "net/websocket_handshake.h"

namespace shepherd::net {

namespace {

constexpr std::size_t kUsualHeaders = 16;

bool is_target_char(char c) {
  return c > 0x20 && c < 0x7f;
}

}  // namespace

bool RequestReader::refuse(int status, std::string_view reason, std::string message) {
  refusal_ = {status, reason, std::move(message), std::nullopt};
  held_ = std::string();
  return false;
}

RequestReader::Stage RequestReader::stage() const {
  if (part_ == Part::head) return held_.empty() ? Stage::idle : Stage::head;
  return part_ == Part::done ? Stage::idle : Stage::body;
}

void RequestReader::start_next() {
  request_ = Request();
  part_ = Part::head;
  trailer_bytes_ = 0;
  wants_continue_ = false;
}

bool RequestReader::take_continue() {
  return std::exchange(wants_continue_, false);
}

RequestReader::Outcome RequestReader::read(std::string_view& input) {
  if (part_ == Part::head) {
    Outcome outcome = read_head(input);
    if (outcome != Outcome::complete) return outcome;
  }
  if (!read_body(input)) return Outcome::refused;
  return part_ == Part::done ? Outcome::complete : Outcome::need_more;
}

// Returns `complete` once the head is complete and admitted.
RequestReader::Outcome RequestReader::read_head(std::string_view& input) {
  if (input.empty()) return Outcome::need_more;
  if (held_.empty() && !is_token_char(input.front())) {
    refuse(400, "malformed_request", "this port speaks HTTP/1.1, and that is not how a request starts");
    return Outcome::refused;
  }
  std::size_t before = held_.size();
  std::string_view seen = input.substr(0, kMaxHeaderBytes - before);
  if (before > 0) {
    held_.append(seen);
    seen = held_;
  }
  std::size_t end = seen.find("\r\n\r\n", before > 3 ? before - 3 : 0);
  if (end != std::string_view::npos) {
    end += 4;
    input.remove_prefix(end - before);
    std::string head = std::exchange(held_, {});  // also releases the memory
    if (before > 0) seen = head;
    return parse_head(seen.substr(0, end));
  }
  if (seen.size() == kMaxHeaderBytes) {
    if (seen.find("\r\n") == std::string_view::npos) {
      refuse(414, "target_too_long", "the request line is longer than " + std::to_string(kMaxHeaderBytes) + " bytes");
    } else {
      refuse(431, "headers_too_large", "the headers are longer than " + std::to_string(kMaxHeaderBytes) + " bytes");
    }
    return Outcome::refused;
  }
  if (before == 0) held_.assign(seen);
  input = {};
  return Outcome::need_more;
}

RequestReader::Outcome RequestReader::parse_head(std::string_view head) {
  HeadFacts facts;
  bool first = true;
  request_.headers.reserve(kUsualHeaders);
  while (head.size() > 2) {  // stops before the empty line
    std::size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (line.empty() || line.back() != '\r') {
      refuse(400, "malformed_request", "every line of the head ends with CRLF");
      return Outcome::refused;
    }
    line.remove_suffix(1);
    if (!(first ? parse_request_line(line) : parse_field(line, facts))) return Outcome::refused;
    first = false;
  }
  if (!check_head(facts)) return Outcome::refused;
  return admit(facts);
}

bool RequestReader::parse_request_line(std::string_view line) {
  std::size_t method_end = line.find(' ');
  if (method_end == 0 || method_end == std::string_view::npos || method_end > kMaxMethodBytes ||
      !std::ranges::all_of(line.substr(0, method_end), is_token_char)) {
    return refuse(400, "malformed_request", "a request line is METHOD, one space, target, one space, HTTP/1.1");
  }
  request_.method = line.substr(0, method_end);
  line.remove_prefix(method_end + 1);
  std::size_t target_end = line.find(' ');
  std::string_view version = target_end == std::string_view::npos ? std::string_view{} : line.substr(target_end + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refuse(400, "malformed_request", "the request line does not end with HTTP/1.1 or HTTP/1.0");
  }
  http10_ = version.back() == '0';
  std::string_view target = line.substr(0, target_end);
  if (target.empty() || target.front() != '/' || !std::ranges::all_of(target, is_target_char)) {
    return refuse(400, "bad_target", "the target is a path that starts with '/', percent-encoded");
  }
  request_.target = target;
  return true;
}

bool RequestReader::parse_field(std::string_view line, HeadFacts& facts) {
  if (request_.headers.size() == kMaxHeaders) {
    return refuse(431, "too_many_headers", "a request has at most " + std::to_string(kMaxHeaders) + " headers");
  }
  FieldParts parts;
  switch (split_field(line, parts)) {
    case FieldFault::none:
      break;
    case FieldFault::malformed:
      return refuse(400, "malformed_header", "a header is a name, a colon and a value on one line");
    case FieldFault::control_character:
      return refuse(400, "malformed_header", "a header's value has a control character");
  }
  auto& [name, kept_value] = request_.headers.emplace_back(parts.name, parts.value);
  for (char& c : name) c = to_lower(c);
  return note_field(name, kept_value, facts);
}

bool RequestReader::note_field(std::string_view name, std::string_view value, HeadFacts& facts) {
  switch (name.size()) {  // the length alone distinguishes nearly every header
    case 4:
      if (name == "host") ++facts.hosts;
      return true;
    case 6:
      if (name != "expect") return true;
      if (!equals_ignoring_case(value, "100-continue")) {
        return refuse(417, "unknown_expectation", "the only expectation known here is 100-continue");
      }
      facts.expects_continue = true;
      return true;
    case 10:
      if (name != "connection") return true;
      facts.connection_close |= has_list_member(value, "close");
      facts.connection_keep_alive |= has_list_member(value, "keep-alive");
      return true;
    case 14: {
      if (name != "content-length") return true;
      auto length = parse_length(value);
      if (facts.content_length || !length) {
        return refuse(400, "bad_content_length", "Content-Length is one decimal number, given once");
      }
      facts.content_length = length;
      return true;
    }
    case 17:
      if (name != "transfer-encoding") return true;
      if (facts.chunked) return refuse(400, "bad_transfer_encoding", "Transfer-Encoding is given twice");
      if (!equals_ignoring_case(value, "chunked")) {
        return refuse(501, "bad_transfer_encoding", "the only transfer coding known here is chunked");
      }
      facts.chunked = true;
      return true;
    default:
      return true;
  }
}

bool RequestReader::check_head(const HeadFacts& facts) {
  if (facts.chunked && (facts.content_length || http10_)) {
    return refuse(
        400, "bad_transfer_encoding",
        "Transfer-Encoding goes neither with Content-Length nor with HTTP/1.0: where the body ends is unclear");
  }
  if (facts.hosts > 1 || (facts.hosts == 0 && !http10_)) {
    return refuse(400, "bad_host", "a request has exactly one Host header");
  }
  keep_alive_ = http10_ ? facts.connection_keep_alive : !facts.connection_close;
  switch (check_upgrade(request_, http10_)) {
    case UpgradeCheck::none:
      return true;
    case UpgradeCheck::valid:
      if (facts.chunked || facts.content_length.value_or(0) > 0) {
        return refuse(400, "bad_websocket_handshake", "a WebSocket handshake has no body");
      }
      request_.is_websocket = true;
      return true;
    case UpgradeCheck::wrong_version:
      return refuse(426, "websocket_version", "WebSocket version 13 is the one known here");
    case UpgradeCheck::malformed:
      return refuse(400, "bad_websocket_handshake",
                    "a WebSocket handshake is a GET over HTTP/1.1 with one Sec-WebSocket-Key of 16 bytes");
  }
  return true;
}

RequestReader::Outcome RequestReader::admit(const HeadFacts& facts) {
  Admission admission = handler_.admit(request_);
  if (admission.refuse) {
    refusal_.response = std::move(admission.refuse);
    return Outcome::refused;
  }
  max_body_bytes_ = admission.max_body_bytes;
  caller_ = std::move(admission.caller);
  left_ = facts.content_length.value_or(0);
  if (left_ > max_body_bytes_) {
    refuse(413, "body_too_large", "the body is larger than " + std::to_string(max_body_bytes_) + " bytes");
    return Outcome::refused;
  }
  if (facts.chunked) {
    part_ = Part::chunk_size;
  } else if (left_ > 0) {
    part_ = Part::sized_body;
    request_.body.reserve(std::min<std::uint64_t>(left_, kFirstBodyReserve));
  } else {
    part_ = Part::done;
  }
  wants_continue_ = facts.expects_continue && part_ != Part::done && !http10_;
  return Outcome::complete;
}

void RequestReader::take_data(std::string_view& input, Part next) {
  auto take = std::min<std::uint64_t>(left_, input.size());
  request_.body.append(input.substr(0, take));
  input.remove_prefix(take);
  left_ -= take;
  if (left_ == 0) part_ = next;
}

bool RequestReader::read_body(std::string_view& input) {
  while (part_ != Part::done && !input.empty()) {
    wants_continue_ = false;  // the body arrives without it
    switch (part_) {
      case Part::sized_body:
        take_data(input, Part::done);
        break;
      case Part::chunk_data:
        take_data(input, Part::chunk_end);
        break;
      case Part::chunk_size: {
        auto line = take_line(input, kMaxChunkLineBytes);
        if (refusal_.status != 0) return false;
        if (line && !take_chunk_size(*line)) return false;
        break;
      }
      case Part::chunk_end: {
        auto line = take_line(input, 2);
        if (refusal_.status == 0 && line && !line->empty())
          refuse(400, "malformed_chunk", "a chunk is longer than it says");
        if (refusal_.status != 0) return false;
        if (line) part_ = Part::chunk_size;
        break;
      }
      case Part::trailers: {
        auto line = take_line(input, kMaxHeaderBytes - std::min(kMaxHeaderBytes, trailer_bytes_));
        if (refusal_.status != 0) return false;
        if (!line) break;
        trailer_bytes_ += line->size() + 2;  // read and dropped; nothing uses trailers
        if (line->empty()) part_ = Part::done;
        break;
      }
      case Part::head:
      case Part::done:
        return true;
    }
  }
  return true;
}

bool RequestReader::take_chunk_size(std::string_view line) {
  auto size = parse_chunk_size(line);
  if (!size) return refuse(400, "malformed_chunk", "a chunk starts with its size in hexadecimal digits");
  if (*size > max_body_bytes_ - request_.body.size()) {
    return refuse(413, "body_too_large", "the body is larger than " + std::to_string(max_body_bytes_) + " bytes");
  }
  left_ = *size;
  part_ = *size == 0 ? Part::trailers : Part::chunk_data;
  return true;
}

std::optional<std::string> RequestReader::take_line(std::string_view& input, std::size_t max_bytes) {
  std::size_t end = input.find('\n');
  std::size_t take = end == std::string_view::npos ? input.size() : end + 1;
  if (held_.size() + take > max_bytes) {
    refuse(400, "malformed_chunk", "a line of the chunked body is too long");
    return std::nullopt;
  }
  held_.append(input.substr(0, take));
  input.remove_prefix(take);
  if (end == std::string_view::npos) return std::nullopt;
  if (held_.size() < 2 || held_.find('\r') != held_.size() - 2) {
    refuse(400, "malformed_chunk", "every line of a chunked body ends with CRLF");
    return std::nullopt;
  }
  held_.resize(held_.size() - 2);
  return std::exchange(held_, {});
}

}  // namespace shepherd::net
