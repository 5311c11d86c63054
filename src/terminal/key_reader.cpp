#include "terminal/key_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "terminal/limits.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kPasteBegin = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";

TypedKey control_key(char c) {
  switch (c) {
    case 1:
      return TypedKey::home;
    case 2:
      return TypedKey::left;
    case 3:
      return TypedKey::interrupt;
    case 4:
      return TypedKey::finish;
    case 5:
      return TypedKey::end;
    case 6:
      return TypedKey::right;
    case 8:
    case 127:
      return TypedKey::backspace;
    case 9:
      return TypedKey::tab;
    case 10:
      return TypedKey::newline;
    case 11:
      return TypedKey::erase_to_end;
    case 12:
      return TypedKey::redraw;
    case 13:
      return TypedKey::enter;
    case 14:
      return TypedKey::down;
    case 15:
      return TypedKey::open;
    case 16:
      return TypedKey::up;
    case 18:
      return TypedKey::search;
    case 21:
      return TypedKey::erase_to_start;
    case 23:
      return TypedKey::erase_word;
    case 26:
      return TypedKey::suspend;
    default:
      return TypedKey::other;
  }
}

struct Sequence {
  std::string_view bytes;  // behind the escape
  TypedKey kind;
};
constexpr std::array kSequences{
    Sequence{"[A", TypedKey::up},
    Sequence{"OA", TypedKey::up},
    Sequence{"[B", TypedKey::down},
    Sequence{"OB", TypedKey::down},
    Sequence{"[C", TypedKey::right},
    Sequence{"OC", TypedKey::right},
    Sequence{"[D", TypedKey::left},
    Sequence{"OD", TypedKey::left},
    Sequence{"[H", TypedKey::home},
    Sequence{"OH", TypedKey::home},
    Sequence{"[1~", TypedKey::home},
    Sequence{"[7~", TypedKey::home},
    Sequence{"[F", TypedKey::end},
    Sequence{"OF", TypedKey::end},
    Sequence{"[4~", TypedKey::end},
    Sequence{"[8~", TypedKey::end},
    Sequence{"[3~", TypedKey::erase},
    Sequence{"[1;5C", TypedKey::word_right},
    Sequence{"[1;3C", TypedKey::word_right},
    Sequence{"[1;5D", TypedKey::word_left},
    Sequence{"[1;3D", TypedKey::word_left},
    Sequence{"[13;2u", TypedKey::newline},
    Sequence{"[27;2;13~", TypedKey::newline},
    Sequence{"OM", TypedKey::enter},
};

// The size of a sequence behind its escape; 0 if it is not whole.
std::size_t sequence_size(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() == 'O') return text.size() < 2 ? 0 : 2;
  if (text.front() != '[') return 1;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] < 0x20 || text[i] > 0x3F) return i + 1;
  }
  return text.size() > kMaxKeySequenceBytes ? text.size() : 0;
}

std::size_t character_size(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

std::vector<Key> KeyReader::read(std::string_view bytes) {
  held_.append(bytes);
  std::vector<Key> keys;
  while (!held_.empty()) {
    if (pasting_) {
      if (!take_paste(keys)) break;
      continue;
    }
    std::size_t used = take(keys);
    if (used == 0) break;
    held_.erase(0, used);
  }
  return keys;
}

std::vector<Key> KeyReader::flush() {
  if (!waits()) return {};
  bool alone = held_ == "\x1b";
  held_.clear();
  return {{alone ? TypedKey::escape : TypedKey::other}};
}

std::size_t KeyReader::take(std::vector<Key>& out) {
  char first = held_.front();
  if (first == '\x1b') return take_escape(out);
  if (static_cast<unsigned char>(first) < 0x20 || first == 127) {
    out.push_back({control_key(first)});
    return 1;
  }
  std::size_t size = character_size(first);
  if (held_.size() < size) return 0;
  std::string text = terminal_text(std::string_view(held_).substr(0, size), Lines::keep);
  if (!text.empty()) out.push_back({TypedKey::text, std::move(text)});
  return size;
}

std::size_t KeyReader::take_escape(std::vector<Key>& out) {
  if (held_.starts_with(kPasteBegin)) {
    pasting_ = true;
    return kPasteBegin.size();
  }
  std::string_view rest = std::string_view(held_).substr(1);
  std::size_t size = sequence_size(rest);
  if (size == 0) return 0;
  std::string_view sequence = rest.substr(0, size);
  const auto* known = std::ranges::find(kSequences, sequence, &Sequence::bytes);
  if (known != kSequences.end()) {
    out.push_back({known->kind});
  } else if (sequence == "\r" || sequence == "\n") {
    out.push_back({TypedKey::newline});  // Alt-Enter
  } else if (sequence == "b" || sequence == "f") {
    out.push_back({sequence == "b" ? TypedKey::word_left : TypedKey::word_right});
  } else if (sequence == "\x7f" || sequence == "\b") {
    out.push_back({TypedKey::erase_word});
  } else if (sequence == "\x1b") {
    out.push_back({TypedKey::escape});
    return 1;
  } else {
    out.push_back({TypedKey::other});
  }
  return 1 + size;
}

// False: the end of the pasted text has not come.
bool KeyReader::take_paste(std::vector<Key>& out) {
  std::size_t end = held_.find(kPasteEnd);
  if (end == std::string::npos) {
    // What is too long is cut, not kept until memory ends.
    if (held_.size() > 2 * kMaxTypedBytes)
      held_.erase(kMaxTypedBytes, held_.size() - kMaxTypedBytes - kPasteEnd.size());
    return false;
  }
  std::string text = held_.substr(0, end);
  for (std::size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at)) {
    if (at + 1 < text.size() && text[at + 1] == '\n') {
      text.erase(at, 1);
    } else {
      text[at] = '\n';
    }
  }
  std::string clean;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t tab = std::min(text.find('\t', at), text.size());
    clean += terminal_text(std::string_view(text).substr(at, tab - at), Lines::keep);
    if (tab < text.size()) clean += '\t';
    at = tab + 1;
  }
  if (!clean.empty()) out.push_back({TypedKey::text, std::move(clean), true});
  held_.erase(0, end + kPasteEnd.size());
  pasting_ = false;
  return true;
}

}  // namespace shepherd
