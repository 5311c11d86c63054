#include "client/sse_reader.h"

#include "client/limits.h"

namespace shepherd {

bool SseReader::read(std::string_view bytes,
                     const std::function<bool(std::string_view id, std::string_view data)>& take) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (line_.size() + data_.size() > kMaxStreamEventBytes) return false;
    if (end == std::string_view::npos) return true;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    bool more = end_line(line_, take);
    line_.clear();
    if (!more) return false;
  }
  return true;
}

bool SseReader::end_line(std::string_view line, const std::function<bool(std::string_view, std::string_view)>& take) {
  if (line.empty()) {
    bool more = !has_data_ || take(id_, data_);
    has_data_ = false;
    data_.clear();
    id_.clear();  // an id counts for its own event here, because not every event has one
    return more;
  }
  std::size_t colon = line.find(':');
  std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "id") {
    id_ = value;
  }
  return true;
}

}  // namespace shepherd
