#include "json/tokens.h"

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "json/blocks.h"
#include "json/escapes.h"
#include "json/limits.h"
#include "json/number.h"
#include "json/text.h"

namespace shepherd {
bool JsonTokens::read(std::string_view text) {
  if (!is_utf8(text)) return false;
  bool oversized = capacity_ > kParserKeepBytes && text.size() <= kParserKeepBytes;
  if (oversized || capacity_ < text.size()) {
    capacity_ = std::max(kFirstParserBytes, text.size() + text.size() / 2);
    buffer_ = std::string(capacity_ + kBlock, '\0');
    strings_ = buffer_;
  }
  if (buffer_.empty()) return false;
  std::memcpy(buffer_.data(), text.data(), text.size());
  begin(text.size());
  return !at_end();
}

bool JsonTokens::read_compact() {
  std::string compact;
  if (!append_compact_json(compact, {buffer_.data(), end_})) return false;
  std::memcpy(buffer_.data(), compact.data(), compact.size());
  begin(compact.size());
  return true;
}

void JsonTokens::begin(std::size_t size) {
  // What an earlier text left there must not look like the rest of this one.
  std::memset(buffer_.data() + size, 0, kBlock);
  end_ = buffer_.data() + size;
  strings_used_ = 0;
  blanks_ = false;
  go_to(buffer_.data());
}

void JsonTokens::pass_blanks() {
  const char* from = at_;
  while (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r') ++at_;
  blanks_ |= at_ != from;
}

const char* JsonTokens::string_end(const char* at) {
  for (;;) {
    std::size_t plain = first_not_plain(at);
    at += plain;
    if (plain == kBlock) continue;
    if (*at == '"') return at;
    // The zero behind the text is a control character, too.
    std::size_t escape = *at == '\\' ? escape_length({at, end_}) : 0;
    if (escape == 0) return nullptr;
    at += escape;
    escapes_ = true;
  }
}

bool JsonTokens::pass_word() {
  std::string_view rest(at_, end_);
  std::size_t length = 0;
  if (rest.starts_with("true") || rest.starts_with("null")) {
    length = 4;
  } else if (rest.starts_with("false")) {
    length = 5;
  } else {
    length = number_length(rest);
  }
  if (length == 0) return false;
  passed_ = rest.substr(0, length);
  go_to(at_ + length);
  return true;
}

std::string_view JsonTokens::unescaped() {
  char* to = strings_.data() + strings_used_;
  std::string_view text(to, unescape_to(to, passed_.substr(1, passed_.size() - 2)));
  strings_used_ += text.size();
  return text;
}

}  // namespace shepherd
