#include "client/json_source.h"

#include <cstddef>

namespace shepherd {
namespace {

// A forward reader over JSON text. A position at the end means "malformed", which every caller checks by at().
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char at() {
    while (i_ < text_.size() && (text_[i_] == ' ' || text_[i_] == '\t' || text_[i_] == '\n' || text_[i_] == '\r')) ++i_;
    return i_ < text_.size() ? text_[i_] : '\0';
  }
  bool take(char c) {
    if (at() != c) return false;
    ++i_;
    return true;
  }
  // The source of the value here; empty when malformed.
  std::string_view value() {
    char c = at();
    std::size_t begin = i_;
    if (c == '"') {
      string();
    } else if (c == '{' || c == '[') {
      nested();
    } else {
      while (i_ < text_.size() && text_[i_] != ',' && text_[i_] != '}' && text_[i_] != ']') ++i_;
      std::size_t end = i_;
      while (end > begin &&
             (text_[end - 1] == ' ' || text_[end - 1] == '\n' || text_[end - 1] == '\r' || text_[end - 1] == '\t')) {
        --end;
      }
      return text_.substr(begin, end - begin);
    }
    return text_.substr(begin, i_ - begin);
  }

 private:
  void string() {
    for (++i_; i_ < text_.size() && text_[i_] != '"'; ++i_) {
      if (text_[i_] == '\\') ++i_;
    }
    i_ = i_ < text_.size() ? i_ + 1 : text_.size();
  }
  void nested() {
    std::size_t depth = 0;
    while (i_ < text_.size()) {
      char c = text_[i_];
      if (c == '"') {
        string();
        continue;
      }
      ++i_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t i_ = 0;
};

}  // namespace

std::string_view json_member(std::string_view object, std::string_view name) {
  Cursor cursor(object);
  if (!cursor.take('{')) return {};
  while (cursor.at() == '"') {
    std::string_view key = cursor.value();
    if (!cursor.take(':')) return {};
    std::string_view value = cursor.value();
    if (key.size() >= 2 && key.substr(1, key.size() - 2) == name) return value;
    if (!cursor.take(',')) return {};
  }
  return {};
}

std::optional<std::vector<std::string_view>> json_elements(std::string_view array) {
  Cursor cursor(array);
  if (!cursor.take('[')) return std::nullopt;
  std::vector<std::string_view> elements;
  if (cursor.take(']')) return elements;
  while (true) {
    std::string_view value = cursor.value();
    if (value.empty()) return std::nullopt;
    elements.push_back(value);
    if (cursor.take(']')) return elements;
    if (!cursor.take(',')) return std::nullopt;
  }
}

}  // namespace shepherd
