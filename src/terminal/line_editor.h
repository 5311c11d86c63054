// The text that a person types, over several lines if they like, with the lines typed earlier. Knows keys and columns,
// not the terminal.
// Threads: caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/key_reader.h"

namespace shepherd {

// The text as rows, each narrower than the terminal, and where the cursor is.
struct EditorView {
  std::vector<std::string> rows;
  std::size_t cursor_row = 0, cursor_column = 0;
};

class LineEditor {
 public:
  // `history`: the oldest first. It outlives the editor and may grow, not shrink.
  explicit LineEditor(const std::vector<std::string>& history) : history_(history), place_(history.size()) {}

  // True if the key changed the text or the cursor; the other keys are for the caller.
  bool press(const Key& key);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  void set(std::string text);
  // Takes the text for sending and begins anew.
  std::string take();

  // Ctrl-R: finds earlier lines that have what is typed.
  bool searching() const { return searching_; }

  // Rows of less than `columns`, at most `most` of them around the cursor. The first has `prompt`, the others are
  // indented like it.
  EditorView view(std::string_view prompt, std::size_t columns, std::size_t most) const;

 private:
  bool press_in_search(const Key& key);
  void insert(std::string_view text);
  void erase(std::size_t from, std::size_t to);
  std::size_t before(std::size_t at) const;
  std::size_t after(std::size_t at) const;
  std::size_t word_before(std::size_t at) const;
  std::size_t word_after(std::size_t at) const;
  std::size_t line_start(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;
  bool up();
  bool down();
  bool recall(std::size_t place);
  void find(std::size_t from);

  const std::vector<std::string>& history_;
  std::size_t place_;  // in the history; its size: the text that is new
  std::string draft_;  // the new text while an earlier one is shown
  std::string text_;
  std::size_t cursor_ = 0;  // a byte, at the beginning of a character
  bool searching_ = false;
  std::string wanted_;
};

}  // namespace shepherd
