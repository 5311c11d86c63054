#include "cli/chat_screen.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/limits.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

constexpr std::string_view kPromptMark = "> ";

}  // namespace

void ChatScreen::print(std::vector<StyledLine> lines) {
  lines_.insert(lines_.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

bool ChatScreen::draw(const std::vector<StyledLine>& unfinished, const StyledLine& status, const LineEditor* editor) {
  LiveArea::Size size = area_.size();
  // The last column stays free, because terminals differ in where the cursor is behind it.
  std::size_t columns = std::max(size.columns, kChatLeastColumns) - 1;
  std::vector<std::string> lines;
  for (const StyledLine& line : std::exchange(lines_, {})) {
    for (const StyledLine& row : wrapped(line, columns)) lines.push_back(painted(row, colored_));
  }
  ScreenArea area;
  auto add = [&](const StyledLine& row) {
    area.rows.push_back(painted(row, colored_));
    area.widths.push_back(columns_of(plain_text(row)));
  };
  EditorView typed;
  if (editor != nullptr) typed = editor->view(kPromptMark, columns, std::max<std::size_t>(1, size.lines / 2));
  // The area must fit the screen: of a long unfinished part the end is shown.
  std::vector<StyledLine> rows;
  for (const StyledLine& line : unfinished) {
    for (StyledLine& row : wrapped(line, columns)) rows.push_back(std::move(row));
  }
  std::size_t room = size.lines > typed.rows.size() + 3 ? size.lines - typed.rows.size() - 3 : 1;
  for (std::size_t i = rows.size() > room ? rows.size() - room : 0; i < rows.size(); ++i) add(rows[i]);
  if (std::string text = plain_text(status); !text.empty()) {
    StyledLine row = status;
    if (columns_of(text) > columns) row = styled(cut_to_columns(text, columns), status.parts.front().look);
    add(row);
  }
  area.cursor = editor != nullptr;
  if (editor != nullptr) {
    area.cursor_row = area.rows.size() + typed.cursor_row;
    area.cursor_column = typed.cursor_column;
    for (const std::string& row : typed.rows) add(styled(row));
  } else if (!area.rows.empty()) {
    area.cursor_row = area.rows.size() - 1;
  }
  return area_.draw(lines, area);
}

}  // namespace shepherd
