// The two ways in which messages are framed: a line each, and server-sent events. Both bound what they hold.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

// Cuts bytes into lines, which end with LF or CRLF.
// Threads: caller.
class McpLines {
 public:
  explicit McpLines(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Calls take(line) for each whole line. False if a line is too long, or take() returned false; then nothing more may
  // be given.
  bool cut(std::string_view bytes, const std::function<bool(std::string_view)>& take);

 private:
  const std::size_t max_bytes_;
  std::string held_;
};

// One event of a stream. Threads: value; the views are valid during the call.
struct McpEvent {
  std::string_view name;  // empty: "message"
  std::string_view data;  // may be empty: the first event of a stream only has an id
};

// Reads an event stream as the HTML standard has it: LF, CR or CRLF, comments, `event`, `data`, `id`, `retry`. What is
// behind the last empty line when a stream ends is no event.
// Threads: caller.
class McpEvents {
 public:
  // Calls take(event) for each event that has data or an id. False if an event is too long, or take() returned false.
  bool cut(std::string_view bytes, const std::function<bool(const McpEvent&)>& take);

  const std::string& last_id() const { return last_id_; }  // of the last whole event that had one
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  bool end_line(const std::function<bool(const McpEvent&)>& take);
  void read_field(std::string_view line);

  std::string line_;
  std::string name_, data_, id_, last_id_;
  bool has_data_ = false, has_id_ = false, after_cr_ = false, begun_ = false;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace shepherd
