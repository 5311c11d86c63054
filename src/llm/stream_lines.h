// The two ways in which backends stream: server-sent events, and one JSON document per line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "llm/limits.h"

namespace shepherd {

// Cuts bytes into lines, which end with LF or CRLF. A line in one piece is not copied.
// Threads: caller.
class StreamLines {
 public:
  // Calls take(line) for each whole line; stops when it returns false. False if a line exceeds kMaxStreamLineBytes;
  // then nothing more may be given.
  template <class Take>
  bool cut(std::string_view bytes, Take&& take) {
    while (!bytes.empty()) {
      std::size_t end = bytes.find('\n');
      if (held_.size() + std::min(end, bytes.size()) > kMaxStreamLineBytes) return false;
      if (end == std::string_view::npos) {
        held_.append(bytes);
        return true;
      }
      std::string_view line = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (!held_.empty()) line = held_.append(line);
      bool more = take(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
      held_.clear();
      if (!more) return true;
    }
    return true;
  }
  // The last line, if no line end came behind it.
  std::string_view rest() const { return held_; }

 private:
  std::string held_;
};

// Server-sent events. Comments are dropped; `data` lines of one event are joined. A line that begins with a brace is an
// event of its own: some servers put a bare JSON error into a stream.
// Threads: caller.
class EventLines {
 public:
  // Calls take(name, data) for each event with data; stops when it returns false. False if an event is too long.
  template <class Take>
  bool cut(std::string_view bytes, Take&& take) {
    bool fits = true;
    bool whole = lines_.cut(bytes, [&](std::string_view line) {
      fits = data_.size() + line.size() <= kMaxStreamLineBytes;
      return fits && read(line, take);
    });
    return whole && fits;
  }
  // The stream has ended: what was not closed by an empty line is an event, too.
  template <class Take>
  void finish(Take&& take) {
    if (!read(lines_.rest(), take)) return;
    if (has_data_) read({}, take);
  }

 private:
  template <class Take>
  bool read(std::string_view line, Take& take) {
    if (line.empty()) return dispatch(take);
    if (line.front() == '{') return take(std::string_view(name_), line);
    add_field(line);
    return true;
  }
  template <class Take>
  bool dispatch(Take& take) {
    bool more = !has_data_ || take(std::string_view(name_), std::string_view(data_));
    has_data_ = false;
    data_.clear();
    name_.clear();
    return more;
  }
  void add_field(std::string_view line);

  StreamLines lines_;
  std::string name_, data_;  // of the event so far
  bool has_data_ = false;
};

}  // namespace shepherd
