#include "chat/code_fences.h"

namespace shepherd {

void CodeFences::add(std::string_view piece, const Emit& emit) {
  std::size_t from = 0;  // of what is not emitted yet
  for (std::size_t at = 0; at < piece.size(); ++at) {
    char c = piece[at];
    if (fence_) {
      from = at + 1;
      if (c == '\n') {
        fence_ = false;
        at_start_ = true;
      }
      continue;
    }
    if (at_start_ && c == '`') {
      if (at > from) emit(code_, piece.substr(from, at - from));
      from = at + 1;
      held_.push_back('`');
      if (held_.size() == 3) {
        held_.clear();
        code_ = !code_;
        fence_ = true;
        at_start_ = false;
      }
      continue;
    }
    if (!held_.empty()) {
      emit(code_, held_);
      held_.clear();
    }
    at_start_ = c == '\n';
  }
  if (from < piece.size()) emit(code_, piece.substr(from));
}

void CodeFences::finish(const Emit& emit) {
  if (!held_.empty()) emit(code_, held_);
  *this = CodeFences();
}

}  // namespace shepherd
