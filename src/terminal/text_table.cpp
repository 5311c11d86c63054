#include "terminal/text_table.h"

#include <algorithm>

#include "terminal/terminal_text.h"

namespace shepherd {

void TextTable::print(Output& out) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = character_count(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, character_count(row[c].text));
    widths.push_back(width);
  }
  std::size_t before_last = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before_last += widths[c] + 2;
  std::size_t room = out.columns() > before_last + 10 ? out.columns() - before_last : 10;

  auto print_row = [&](auto cell) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      bool last = c + 1 == columns_.size();
      auto [text, color] = cell(c);
      if (last) text = cut_to(text, room);
      std::size_t size = character_count(text);
      std::string space(widths[c] > size ? widths[c] - size : 0, ' ');
      if (columns_[c].right) line += space;
      line += out.paint(color, text);
      if (!last) line += (columns_[c].right ? "" : space) + "  ";
    }
    out.line(line);
  };
  print_row([&](std::size_t c) { return Cell{columns_[c].title, Color::dim}; });
  for (const auto& row : rows_) print_row([&](std::size_t c) { return row[c]; });
}

}  // namespace shepherd
