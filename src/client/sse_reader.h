// Reads server-sent events as the HTML standard has them, of which only the data and the id are used.
// Threads: caller.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace shepherd {

class SseReader {
 public:
  // Calls take(id, data) for each whole event with data; the views are valid during the call. False if an event
  // exceeds kMaxStreamEventBytes, or take() returned false; then nothing more may be given.
  bool read(std::string_view bytes, const std::function<bool(std::string_view id, std::string_view data)>& take);

 private:
  bool end_line(std::string_view line, const std::function<bool(std::string_view, std::string_view)>& take);

  std::string line_, data_, id_;
  bool has_data_ = false, after_cr_ = false;
};

}  // namespace shepherd
