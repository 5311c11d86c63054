// What an agent prints on standard error: log events, and its newest words, which often say why it ended.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/actions.h"
#include "driver/driver.h"
#include "driver/text_joiner.h"

namespace shepherd {

class ErrorOutput {
 public:
  void line(std::string_view line, std::int64_t now_ms, std::string_view session, Actions& out);
  void tick(std::int64_t now_ms, std::string_view session, Actions& out);
  void finish(std::string_view session, Actions& out);

  std::optional<std::int64_t> due_at_ms() const { return lines_.due_at_ms(); }
  std::string_view tail() const { return tail_; }  // at most kStderrTailBytes
  std::string_view last_line() const;              // the newest that has a word

 private:
  TextJoiner lines_;
  std::string tail_;
};

// The last words of an agent that failed without saying so on its output: those on standard error, unless a signal
// ended it, and otherwise how it ended.
std::string why_it_ended(const ExitFacts& exit, const ErrorOutput& errors, bool mid_turn);

}  // namespace shepherd
