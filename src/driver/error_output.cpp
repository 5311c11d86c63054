#include "driver/error_output.h"

#include <algorithm>

#include "driver/event_json.h"
#include "driver/limits.h"

namespace shepherd {
namespace {

// Not the closing brace of an object that was printed.
bool has_word(std::string_view line) {
  return std::ranges::any_of(line, [](unsigned char c) {
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

void ErrorOutput::line(std::string_view line, std::int64_t now_ms, std::string_view session, Actions& out) {
  tail_.append(line.substr(0, kStderrTailBytes)).push_back('\n');
  if (tail_.size() > kStderrTailBytes) tail_.erase(0, tail_.size() - kStderrTailBytes);
  add_log(out, lines_.add(line, now_ms), "stderr", session);
}

void ErrorOutput::tick(std::int64_t now_ms, std::string_view session, Actions& out) {
  add_log(out, lines_.due(now_ms), "stderr", session);
}

void ErrorOutput::finish(std::string_view session, Actions& out) {
  add_log(out, lines_.flush(), "stderr", session);
}

std::string_view ErrorOutput::last_line() const {
  std::string_view text = tail_;
  while (!text.empty()) {
    text.remove_suffix(1);  // its newline
    std::string_view line = text.substr(text.rfind('\n') + 1);
    if (has_word(line)) return line;
    text.remove_suffix(line.size());
  }
  return {};
}

std::string why_it_ended(const ExitFacts& exit, const ErrorOutput& errors, bool mid_turn) {
  std::string said = one_line(errors.last_line(), kMaxEventTextBytes);
  if (exit.signal == 0 && !said.empty()) return said;
  std::string why = "the agent " + how_it_ended(exit);
  if (mid_turn) why += " in the middle of a turn";
  return said.empty() ? why : why + ": " + said;
}

}  // namespace shepherd
