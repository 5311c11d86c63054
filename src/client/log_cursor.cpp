#include "client/log_cursor.h"

#include <algorithm>

namespace shepherd {

LogCursor::Step LogCursor::event(std::uint64_t number) {
  if (last_ && number <= *last_) return Step::repeat;
  if (!follows(number)) return Step::hole;
  last_ = number;
  return Step::take;
}

LogCursor::Step LogCursor::gap(std::uint64_t from, std::uint64_t to) {
  if (last_ && to <= *last_) return Step::repeat;
  if (last_ && !filtered_ && from > *last_ + 1) return Step::hole;
  last_ = to;
  return Step::take;
}

LogCursor::Step LogCursor::reached(std::uint64_t number) {
  if (last_ && !filtered_ && number > *last_) return Step::hole;
  last_ = std::max(number, last_.value_or(0));
  return Step::take;
}

}  // namespace shepherd
