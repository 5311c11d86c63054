#include "driver/text_joiner.h"

#include <utility>

#include "driver/limits.h"

namespace shepherd {

std::optional<JoinedText> TextJoiner::add(std::string_view line, std::int64_t now_ms) {
  std::optional<JoinedText> before;
  bool late = now_ms - first_ms_ >= kTextJoinWait.count();
  if (holds_ && (late || held_.size() + 1 + line.size() > kTextJoinBytes)) before = flush();
  if (holds_) {
    held_.push_back('\n');
  } else {
    first_ms_ = now_ms;
  }
  held_.append(line);
  holds_ = true;
  return before;
}

std::optional<JoinedText> TextJoiner::due(std::int64_t now_ms) {
  auto at = due_at_ms();
  return at && now_ms >= *at ? flush() : std::nullopt;
}

std::optional<JoinedText> TextJoiner::flush() {
  if (!holds_) return std::nullopt;
  holds_ = false;
  return JoinedText{std::exchange(held_, {}), first_ms_};
}

std::optional<std::int64_t> TextJoiner::due_at_ms() const {
  if (!holds_) return std::nullopt;
  return first_ms_ + kTextJoinWait.count();
}

}  // namespace shepherd
