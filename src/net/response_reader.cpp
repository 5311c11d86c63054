#include "net/response_reader.h"

#include <algorithm>
#include <utility>

#include "net/limits.h"
#include "net/message_text.h"
#include "net/text.h"

namespace shepherd::net {

std::string_view ResponseHead::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return value;
  }
  return {};
}

bool ResponseReader::refuse(std::string why) {
  refusal_ = std::move(why);
  return false;
}

ResponseReader::Event ResponseReader::read(std::string_view& input) {
  for (;;) {
    switch (part_) {
      case Part::head: {
        Event event = read_head(input);
        if (event != Event::head) return event;
        bool interim = head_.status < 200 && head_.status != 101;
        if (!interim) return Event::head;
        if (++interim_ > kMaxInterimResponses) {
          refuse("it has too many interim responses");
          return Event::refused;
        }
        head_ = {};
        part_ = Part::head;
        break;
      }
      case Part::done:
        return Event::end;
      case Part::sized_body:
        return input.empty() ? Event::need_more : take_data(input, Part::done);
      case Part::endless_body:
        left_ = input.size();
        return input.empty() ? Event::need_more : take_data(input, Part::endless_body);
      case Part::chunk_data:
        return input.empty() ? Event::need_more : take_data(input, Part::chunk_end);
      case Part::chunk_size:
      case Part::chunk_end:
      case Part::trailers:
        if (input.empty()) return Event::need_more;
        if (!read_line(input)) return Event::refused;
        break;
    }
  }
}

ResponseReader::Event ResponseReader::read_end() {
  if (part_ == Part::endless_body || part_ == Part::done) return Event::end;
  refuse(started_ ? "the connection ended in the middle of it" : "the connection ended before it");
  return Event::refused;
}

ResponseReader::Event ResponseReader::take_data(std::string_view& input, Part next) {
  piece_ = input.substr(0, std::min<std::uint64_t>(left_, input.size()));
  input.remove_prefix(piece_.size());
  left_ -= piece_.size();
  if (left_ == 0) part_ = next;
  return Event::body;
}

ResponseReader::Event ResponseReader::read_head(std::string_view& input) {
  if (input.empty()) return Event::need_more;
  started_ = true;
  std::size_t before = held_.size();
  std::string_view seen = input.substr(0, kMaxHeaderBytes - before);
  if (before > 0) {
    held_.append(seen);
    seen = held_;
  }
  constexpr std::string_view kStart = "HTTP/1.";
  if (seen.substr(0, kStart.size()) != kStart.substr(0, seen.size())) {
    refuse("it does not start with HTTP/1.1");
    return Event::refused;
  }
  std::size_t end = seen.find("\r\n\r\n", before > 3 ? before - 3 : 0);
  if (end != std::string_view::npos) {
    end += 4;
    input.remove_prefix(end - before);
    std::string kept = std::exchange(held_, {});
    if (before > 0) seen = kept;
    return parse_head(seen.substr(0, end)) ? Event::head : Event::refused;
  }
  if (seen.size() == kMaxHeaderBytes) {
    refuse("its headers are longer than " + std::to_string(kMaxHeaderBytes) + " bytes");
    return Event::refused;
  }
  if (before == 0) held_.assign(seen);
  input = {};
  return Event::need_more;
}

bool ResponseReader::parse_head(std::string_view head) {
  HeadFacts facts;
  bool first = true;
  while (head.size() > 2) {  // stops before the empty line
    std::size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (line.empty() || line.back() != '\r') return refuse("a line of its head does not end with CRLF");
    line.remove_suffix(1);
    if (!(first ? parse_status_line(line) : parse_field(line, facts))) return false;
    first = false;
  }
  return check_head(facts);
}

bool ResponseReader::parse_status_line(std::string_view line) {
  constexpr std::size_t kStatusAt = 9;  // after "HTTP/1.1 "
  bool known = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  std::string_view digits = known ? line.substr(kStatusAt, 3) : std::string_view{};
  auto status = parse_length(digits);
  // A missing blank before an empty reason is common and harmless.
  std::string_view rest = known ? line.substr(std::min(line.size(), kStatusAt + 3)) : std::string_view{};
  if (!status || digits.size() != 3 || *status < 100 || (!rest.empty() && rest.front() != ' ') ||
      !std::ranges::all_of(rest, is_field_char)) {
    return refuse("its first line is not HTTP/1.1, a status of three digits and a reason");
  }
  http10_ = line[kStatusAt - 2] == '0';
  head_.status = static_cast<int>(*status);
  return true;
}

bool ResponseReader::parse_field(std::string_view line, HeadFacts& facts) {
  if (head_.headers.size() == kMaxHeaders)
    return refuse("it has more than " + std::to_string(kMaxHeaders) + " headers");
  FieldParts parts;
  switch (split_field(line, parts)) {
    case FieldFault::none:
      break;
    case FieldFault::malformed:
      return refuse("a header is not a name, a colon and a value on one line");
    case FieldFault::control_character:
      return refuse("a header's value has a control character");
  }
  auto& [name, value] = head_.headers.emplace_back(parts.name, parts.value);
  for (char& c : name) c = to_lower(c);
  if (name == "content-length") {
    auto length = parse_length(value);
    if (facts.content_length || !length) return refuse("its Content-Length is not one decimal number, given once");
    facts.content_length = length;
  } else if (name == "transfer-encoding") {
    if (facts.chunked || !equals_ignoring_case(value, "chunked")) {
      return refuse("its Transfer-Encoding is not \"chunked\", given once");
    }
    facts.chunked = true;
  } else if (name == "connection") {
    facts.connection_close |= has_list_member(value, "close");
    facts.connection_keep_alive |= has_list_member(value, "keep-alive");
  }
  return true;
}

bool ResponseReader::check_head(const HeadFacts& facts) {
  if (facts.chunked && (facts.content_length || http10_)) {
    return refuse("Transfer-Encoding goes neither with Content-Length nor with HTTP/1.0");
  }
  int status = head_.status;
  bool interim = status < 200;
  bool tunnel = request_ == Request::connect && status >= 200 && status < 300;
  if (status == 101 && request_ != Request::upgrade) return refuse("it changes the protocol without being asked");
  keep_alive_ = http10_ ? facts.connection_keep_alive : !facts.connection_close;
  left_ = facts.content_length.value_or(0);
  if (interim || tunnel || request_ == Request::head || status == 204 || status == 304) {
    // A body where none may be: whether its bytes follow is unclear, so the connection is not used again.
    bool unclear = (interim || status == 204) && (facts.chunked || left_ > 0);
    if (unclear && interim) return refuse("an interim response has a body");
    if (unclear || tunnel) keep_alive_ = false;
    part_ = Part::done;
  } else if (facts.chunked) {
    part_ = Part::chunk_size;
  } else if (facts.content_length) {
    part_ = left_ > 0 ? Part::sized_body : Part::done;
  } else {
    part_ = Part::endless_body;
    keep_alive_ = false;
  }
  return true;
}

bool ResponseReader::read_line(std::string_view& input) {
  std::size_t most = part_ == Part::chunk_size  ? kMaxChunkLineBytes
                     : part_ == Part::chunk_end ? 2
                                                : kMaxHeaderBytes - std::min(kMaxHeaderBytes, trailer_bytes_);
  auto line = take_line(input, most);
  if (!line) return refusal_.empty();
  if (part_ == Part::chunk_end) {
    part_ = Part::chunk_size;
    return line->empty() || refuse("a chunk is longer than it says");
  }
  if (part_ == Part::trailers) {
    trailer_bytes_ += line->size() + 2;  // read and dropped; nothing uses trailers
    if (line->empty()) part_ = Part::done;
    return true;
  }
  auto size = parse_chunk_size(*line);
  if (!size) return refuse("a chunk does not start with its size in hexadecimal digits");
  left_ = *size;
  part_ = left_ == 0 ? Part::trailers : Part::chunk_data;
  return true;
}

std::optional<std::string> ResponseReader::take_line(std::string_view& input, std::size_t max_bytes) {
  std::size_t end = input.find('\n');
  std::size_t take = end == std::string_view::npos ? input.size() : end + 1;
  if (held_.size() + take > max_bytes) {
    refuse("a line of its chunked body is too long");
    return std::nullopt;
  }
  held_.append(input.substr(0, take));
  input.remove_prefix(take);
  if (end == std::string_view::npos) return std::nullopt;
  if (held_.size() < 2 || held_.find('\r') != held_.size() - 2) {
    refuse("a line of its chunked body does not end with CRLF");
    return std::nullopt;
  }
  held_.resize(held_.size() - 2);
  return std::exchange(held_, {});
}

}  // namespace shepherd::net
