// Lines of plain output joined into pieces worth one event: lines that come together stay together.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

struct JoinedText {
  std::string text;
  std::int64_t at_ms = 0;  // when its first line came
};

class TextJoiner {
 public:
  // Adds a line; what was held before it, when the line no longer belongs to it.
  std::optional<JoinedText> add(std::string_view line, std::int64_t now_ms);
  // What is held, when its first line came kTextJoinWait ago: a slow stream is shown as it comes.
  std::optional<JoinedText> due(std::int64_t now_ms);
  // What is held, whatever the time.
  std::optional<JoinedText> flush();

  std::optional<std::int64_t> due_at_ms() const;

 private:
  std::string held_;
  bool holds_ = false;
  std::int64_t first_ms_ = 0;
};

}  // namespace shepherd
