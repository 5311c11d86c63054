#include <algorithm>

#include "json/scan.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// Removes terminal colours and cursor moves, so that "ESC[31mF" is indexed and shown as "F". Of any other sequence only
// the escape character is removed, so that no text can hide inside a sequence.
void drop_colours(std::string& text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\x1b') {
      text[kept++] = text[i++];
      continue;
    }
    ++i;
    if (i == text.size() || text[i] != '[') continue;
    ++i;
    while (i < text.size() && text[i] >= 0x20 && text[i] <= 0x3F) ++i;
    if (i < text.size() && text[i] >= 0x40 && text[i] <= 0x7E) ++i;
  }
  text.resize(kept);
}

// Collects words up to a maximum size.
class Words {
 public:
  explicit Words(std::size_t most) : most_(most) {}

  bool full() const { return text_.size() >= most_; }
  std::string take() { return std::move(text_); }

  void add(std::string_view escaped) {
    if (full() || escaped.empty()) return;
    auto plain = unescape(escaped);
    if (!plain) return;
    drop_colours(*plain);
    if (plain->empty()) return;
    if (!text_.empty()) text_.push_back(' ');
    std::size_t room = most_ > text_.size() ? most_ - text_.size() : 0;
    if (plain->size() > room) {
      while (room > 0 && (static_cast<unsigned char>((*plain)[room]) & 0xC0) == 0x80) --room;
      plain->resize(room);
      most_ = 0;
    }
    text_.append(*plain);
  }

  // Adds every string of a value except member names.
  void add_strings(std::string_view json) {
    for (std::size_t at = json.find('"'); at != std::string_view::npos && !full(); at = json.find('"', at)) {
      std::size_t end = end_of_value(json, at);
      if (end == std::string_view::npos) return;
      if (end >= json.size() || json[end] != ':') add(json.substr(at + 1, end - at - 2));
      at = end;
    }
  }

 private:
  std::size_t most_;
  std::string text_;
};

}  // namespace

std::string searchable_text(std::string_view event_json, std::size_t max_bytes) {
  Words words(max_bytes);
  JsonMembers members(event_json);
  while (!words.full() && members.next()) {
    std::string_view key = members.key();
    if (key == "summary" || key == "tool" || key == "input" || key == "output" || key == "data") {
      words.add_strings(members.value());
    }
  }
  return words.take();
}

}  // namespace shepherd
