#include "terminal/line_editor.h"

#include <algorithm>
#include <utility>

#include "terminal/limits.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}
bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t';
}

// A tab is two columns here, as everywhere in the terminal's output.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text) c == '\t' ? out += "  " : out += c;
  return out;
}

}  // namespace

void LineEditor::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

std::string LineEditor::take() {
  std::string taken = std::exchange(text_, {});
  cursor_ = 0;
  place_ = history_.size();
  draft_.clear();
  searching_ = false;
  return taken;
}

bool LineEditor::press(const Key& key) {
  if (searching_) return press_in_search(key);
  switch (key.kind) {
    case TypedKey::text:
      insert(key.text);
      return true;
    case TypedKey::newline:
      insert("\n");
      return true;
    case TypedKey::backspace:
      erase(before(cursor_), cursor_);
      return true;
    case TypedKey::erase:
      erase(cursor_, after(cursor_));
      return true;
    case TypedKey::erase_word:
      erase(word_before(cursor_), cursor_);
      return true;
    case TypedKey::erase_to_start:
      erase(line_start(cursor_), cursor_);
      return true;
    case TypedKey::erase_to_end:
      erase(cursor_, line_end(cursor_) == cursor_ ? after(cursor_) : line_end(cursor_));
      return true;
    case TypedKey::left:
      cursor_ = before(cursor_);
      return true;
    case TypedKey::right:
      cursor_ = after(cursor_);
      return true;
    case TypedKey::word_left:
      cursor_ = word_before(cursor_);
      return true;
    case TypedKey::word_right:
      cursor_ = word_after(cursor_);
      return true;
    case TypedKey::home:
      cursor_ = line_start(cursor_);
      return true;
    case TypedKey::end:
      cursor_ = line_end(cursor_);
      return true;
    case TypedKey::up:
      return up();
    case TypedKey::down:
      return down();
    case TypedKey::search:
      searching_ = true;
      wanted_.clear();
      if (place_ == history_.size()) draft_ = text_;
      return true;
    default:
      return false;
  }
}

bool LineEditor::press_in_search(const Key& key) {
  switch (key.kind) {
    case TypedKey::text:
      wanted_ += key.text;
      find(history_.size());
      return true;
    case TypedKey::backspace:
      while (!wanted_.empty() && continues(wanted_.back())) wanted_.pop_back();
      if (!wanted_.empty()) wanted_.pop_back();
      find(history_.size());
      return true;
    case TypedKey::search:
      find(place_);
      return true;
    case TypedKey::escape:
    case TypedKey::interrupt:
      searching_ = false;
      place_ = history_.size();
      set(draft_);
      return true;
    case TypedKey::enter:
      searching_ = false;  // the found line can be changed before it is sent
      return true;
    default:
      searching_ = false;
      return press(key);
  }
}

// Shows the newest earlier line below `from` that has the wanted text.
void LineEditor::find(std::size_t from) {
  if (wanted_.empty()) return;
  for (std::size_t i = from; i-- > 0;) {
    if (history_[i].find(wanted_) == std::string::npos) continue;
    place_ = i;
    return set(history_[i]);
  }
}

void LineEditor::insert(std::string_view text) {
  if (text_.size() + text.size() > kMaxTypedBytes) return;
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void LineEditor::erase(std::size_t from, std::size_t to) {
  text_.erase(from, to - from);
  cursor_ = from;
}

std::size_t LineEditor::before(std::size_t at) const {
  // A combining mark goes with its letter.
  while (at > 0) {
    std::size_t end = at--;
    while (at > 0 && continues(text_[at])) --at;
    if (text_[at] == '\n' || columns_of(std::string_view(text_).substr(at, end - at)) > 0) break;
  }
  return at;
}

std::size_t LineEditor::after(std::size_t at) const {
  auto next = [&](std::size_t from) {
    if (from < text_.size()) ++from;
    while (from < text_.size() && continues(text_[from])) ++from;
    return from;
  };
  at = next(at);
  while (at < text_.size() && static_cast<unsigned char>(text_[at]) >= 0x80 &&
         columns_of(std::string_view(text_).substr(at, next(at) - at)) == 0) {
    at = next(at);
  }
  return at;
}

std::size_t LineEditor::word_before(std::size_t at) const {
  while (at > 0 && is_blank(text_[at - 1])) --at;
  while (at > 0 && !is_blank(text_[at - 1])) --at;
  return at;
}

std::size_t LineEditor::word_after(std::size_t at) const {
  while (at < text_.size() && is_blank(text_[at])) ++at;
  while (at < text_.size() && !is_blank(text_[at])) ++at;
  return at;
}

std::size_t LineEditor::line_start(std::size_t at) const {
  std::size_t end = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
  return end == std::string::npos ? 0 : end + 1;
}

std::size_t LineEditor::line_end(std::size_t at) const {
  return std::min(text_.find('\n', at), text_.size());
}

bool LineEditor::up() {
  std::size_t start = line_start(cursor_);
  if (start == 0) return recall(place_ == 0 ? 0 : place_ - 1);
  std::size_t previous = line_start(start - 1);
  cursor_ = std::min(previous + (cursor_ - start), start - 1);
  while (cursor_ > 0 && cursor_ < text_.size() && continues(text_[cursor_])) --cursor_;
  return true;
}

bool LineEditor::down() {
  std::size_t end = line_end(cursor_);
  if (end == text_.size()) return recall(place_ + 1);
  std::size_t column = cursor_ - line_start(cursor_);
  cursor_ = std::min(end + 1 + column, line_end(end + 1));
  while (cursor_ > 0 && cursor_ < text_.size() && continues(text_[cursor_])) --cursor_;
  return true;
}

bool LineEditor::recall(std::size_t place) {
  if (place == place_ || place > history_.size()) return true;
  if (place_ == history_.size()) draft_ = text_;
  place_ = place;
  set(place == history_.size() ? draft_ : history_[place]);
  return true;
}

EditorView LineEditor::view(std::string_view prompt, std::size_t columns, std::size_t most) const {
  EditorView view;
  std::string front = searching_ ? "search \"" + wanted_ + "\": " : std::string(prompt);
  std::size_t indent = columns_of(front);
  if (indent + 8 > columns) front.clear(), indent = 0;
  std::size_t room = columns > indent + 1 ? columns - indent - 1 : 1;
  for (std::size_t line = 0; line <= text_.size();) {
    std::size_t end = line_end(line);
    std::size_t at = line;
    do {
      // Breaks at the exact column, so that the cursor stays where the person expects it.
      std::size_t stop = at, used = 0;
      while (stop < end) {
        std::size_t next = after(stop);
        std::size_t width = columns_of(shown(std::string_view(text_).substr(stop, next - stop)));
        if (used + width > room && stop > at) break;
        used += width;
        stop = next;
      }
      if (cursor_ >= at && (cursor_ < stop || (cursor_ == stop && stop == end))) {
        view.cursor_row = view.rows.size();
        view.cursor_column = indent + columns_of(shown(std::string_view(text_).substr(at, cursor_ - at)));
      }
      std::string before = view.rows.empty() ? front : std::string(indent, ' ');
      view.rows.push_back(before + shown(std::string_view(text_).substr(at, stop - at)));
      at = stop;
    } while (at < end);
    line = end + 1;
  }
  if (most > 0 && view.rows.size() > most) {
    std::size_t first = std::min(view.cursor_row >= most ? view.cursor_row - most + 1 : 0, view.rows.size() - most);
    view.rows.erase(view.rows.begin(), view.rows.begin() + static_cast<std::ptrdiff_t>(first));
    view.rows.resize(most);
    view.cursor_row -= first;
  }
  return view;
}

}  // namespace shepherd
