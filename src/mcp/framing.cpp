#include "mcp/framing.h"

#include <algorithm>
#include <charconv>

#include "mcp/limits.h"

namespace shepherd {

bool McpLines::cut(std::string_view bytes, const std::function<bool(std::string_view)>& take) {
  while (!bytes.empty()) {
    std::size_t end = bytes.find('\n');
    if (held_.size() + std::min(end, bytes.size()) > max_bytes_) return false;
    if (end == std::string_view::npos) {
      held_.append(bytes);
      return true;
    }
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    std::string whole;
    if (!held_.empty()) {
      whole = std::move(held_.append(line));
      held_ = {};
      line = whole;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!take(line)) return false;
  }
  return true;
}

bool McpEvents::cut(std::string_view bytes, const std::function<bool(const McpEvent&)>& take) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    std::size_t end = bytes.find_first_of("\r\n");
    if (line_.size() + data_.size() + std::min(end, bytes.size()) > kMaxMcpMessageBytes) return false;
    line_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) return true;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!begun_ && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
    begun_ = true;
    if (!end_line(take)) return false;
    line_.clear();
  }
  return true;
}

bool McpEvents::end_line(const std::function<bool(const McpEvent&)>& take) {
  if (!line_.empty()) {
    read_field(line_);
    return true;
  }
  if (has_id_) last_id_ = id_;
  bool more = true;
  if (has_data_ || has_id_) more = take({name_, data_});
  name_.clear();
  data_.clear();
  has_data_ = has_id_ = false;
  return more;
}

void McpEvents::read_field(std::string_view line) {
  std::size_t colon = line.find(':');
  if (colon == 0) return;  // a comment
  std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_.push_back('\n');
    data_.append(value);
    has_data_ = true;
  } else if (field == "event") {
    name_.assign(value);
  } else if (field == "id") {
    // It goes back in a header.
    bool safe = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c != 0x7F; });
    if (!safe || value.size() > kMaxMcpEventIdBytes) return;
    id_.assign(value);
    has_id_ = true;
  } else if (field == "retry") {
    std::int64_t ms = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error != std::errc() || end != value.data() + value.size() || ms < 0) return;
    retry_ = std::min(std::chrono::milliseconds(ms), kMostMcpRetryPause);
  }
}

}  // namespace shepherd
