#include "driver/grpc/sequence_check.h"

#include <functional>

#include "driver/grpc/limits.h"

namespace shepherd {

SequenceCheck::Found SequenceCheck::look(std::int64_t number, std::string_view message) {
  if (number == 0) return Found::right;
  std::size_t content = std::hash<std::string_view>{}(message);
  if (number <= newest_) {
    bool used = false;
    for (const Seen& seen : seen_) {
      if (seen.number != number) continue;
      if (seen.content == content) return Found::repeat;
      used = true;
    }
    remember(number, content);
    return used ? Found::reused : Found::late;
  }
  bool gap = number > newest_ + 1;
  first_missing_ = newest_ + 1;
  last_missing_ = number - 1;
  newest_ = number;
  remember(number, content);
  return gap ? Found::gap : Found::right;
}

void SequenceCheck::remember(std::int64_t number, std::size_t content) {
  seen_.push_back({number, content});
  if (seen_.size() > kRecentMessages) seen_.pop_front();
}

}  // namespace shepherd
