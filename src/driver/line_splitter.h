// Bytes in as they come from a pipe, complete lines out: valid UTF-8, without newline.
//
// A line ends at \n; a \r before it goes too. Bytes that are not UTF-8 become U+FFFD, NUL bytes too. A line longer than
// the bound is given once, cut, with a note; the rest of it is passed over. The same bytes give the same lines however
// they are split.
// Threads: caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "driver/limits.h"

namespace shepherd {

// The text with everything that is not UTF-8, and NUL, replaced by U+FFFD. `store` holds it when that changed anything.
std::string_view readable_text(std::string_view bytes, std::string& store);

// `text` is valid during the call that hands it out.
struct Line {
  std::string_view text;
  std::size_t cut_bytes = 0;  // not 0: the line was longer than the bound by at least this much
};

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line_bytes = kMaxAgentLineBytes) : most_(max_line_bytes) {}

  // Calls sink(Line) for every line that these bytes complete.
  template <class Sink>
  void add(std::string_view bytes, Sink&& sink) {
    while (!bytes.empty()) {
      std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) return keep(bytes);
      take(bytes.substr(0, end), sink);
      bytes.remove_prefix(end + 1);
    }
  }

  // The output ended: what was not ended by a newline is a line too.
  template <class Sink>
  void finish(Sink&& sink) {
    if (!rest_.empty() || cut_ > 0) take({}, sink);
  }

  std::size_t held_bytes() const { return rest_.size(); }

 private:
  void keep(std::string_view bytes);
  Line finished(std::string_view line);

  template <class Sink>
  void take(std::string_view end_of_line, Sink&& sink) {
    if (rest_.empty() && cut_ == 0 && end_of_line.size() <= most_) {
      sink(finished(end_of_line));
      return;
    }
    keep(end_of_line);
    std::string line = std::exchange(rest_, {});
    Line whole = finished(line);
    whole.cut_bytes = std::exchange(cut_, 0);
    sink(whole);
  }

  std::size_t most_;
  std::string rest_;     // the beginning of a line
  std::size_t cut_ = 0;  // bytes of it that were passed over
  std::string readable_;
};

}  // namespace shepherd
