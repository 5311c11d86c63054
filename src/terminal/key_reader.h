// What a person types, as keys: the bytes of a terminal in raw mode, with its escape sequences and pasted text.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

enum class TypedKey : std::uint8_t {
  text,   // one character, or a whole pasted text
  enter,  // sends
  newline,
  backspace,
  erase,  // the character under the cursor
  erase_word,
  erase_to_start,
  erase_to_end,
  left,
  right,
  word_left,
  word_right,
  up,
  down,
  home,
  end,
  tab,
  escape,
  interrupt,  // Ctrl-C
  finish,     // Ctrl-D
  search,     // Ctrl-R
  open,       // Ctrl-O
  redraw,     // Ctrl-L
  suspend,    // Ctrl-Z
  other,
};

struct Key {
  TypedKey kind = TypedKey::other;
  std::string text = {};
  bool pasted = false;
  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  // The keys that are whole now. Text is harmless: control characters are left out.
  std::vector<Key> read(std::string_view bytes);
  // An escape stands alone, or a sequence is cut off: if nothing follows soon, flush() gives it.
  bool waits() const { return !held_.empty() && !pasting_; }
  std::vector<Key> flush();

 private:
  std::size_t take(std::vector<Key>& out);  // bytes used; 0: more are needed
  std::size_t take_escape(std::vector<Key>& out);
  bool take_paste(std::vector<Key>& out);

  std::string held_;
  bool pasting_ = false;
};

}  // namespace shepherd
