#include "terminal/markdown_text.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "terminal/limits.h"
#include "terminal/terminal_text.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

constexpr TextLook kCodeLook{.color = Color::cyan};
constexpr TextLook kMarkLook{.dim = true};
constexpr std::size_t kRuleColumns = 24;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80) != 0;
}

std::string_view trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Writes text with looks. Reads from left to right; what opens and never closes is text.
class InlineReader {
 public:
  InlineReader(std::string_view text, StyledLine& out) : text_(text), out_(out) {}

  void read(TextLook look) { span(0, text_.size(), look, 0); }

 private:
  static constexpr int kDeepest = 4;  // emphasis within emphasis; deeper marks stay text

  void put(std::string_view text, TextLook look) {
    if (text.empty()) return;
    if (!out_.parts.empty() && out_.parts.back().look == look) {
      out_.parts.back().text += text;
    } else {
      out_.parts.push_back({std::string(text), look});
    }
  }

  void span(std::size_t from, std::size_t to, TextLook look, int depth) {
    std::size_t at = from, said = from;
    while (at < to) {
      std::size_t end = at;
      switch (text_[at]) {
        case '\\':
          if (at + 1 < to && std::ispunct(static_cast<unsigned char>(text_[at + 1])) != 0) {
            put(text_.substr(said, at - said), look);
            said = at + 1;
            end = at + 2;
          }
          break;
        case '`':
          end = code(at, to, said, look);
          break;
        case '*':
        case '_':
        case '~':
          end = depth < kDeepest ? emphasis(at, to, said, look, depth) : at;
          break;
        case '[':
          end = depth < kDeepest ? link(at, to, said, look, depth) : at;
          break;
        default:
          break;
      }
      at = end > at ? end : at + 1;
    }
    if (said < to) put(text_.substr(said, to - said), look);
  }

  std::size_t code(std::size_t at, std::size_t to, std::size_t& said, TextLook look) {
    std::size_t marks = std::min(text_.find_first_not_of('`', at), to) - at;
    std::size_t open = at + marks;
    for (std::size_t i = text_.find('`', open); i < to; i = text_.find('`', i)) {
      std::size_t end = std::min(text_.find_first_not_of('`', i), to);
      if (end - i == marks) {
        put(text_.substr(said, at - said), look);
        TextLook inside = look;
        inside.color = kCodeLook.color;
        put(text_.substr(open, i - open), inside);
        said = end;
        return end;
      }
      i = end;
    }
    return open;
  }

  std::size_t emphasis(std::size_t at, std::size_t to, std::size_t& said, TextLook look, int depth) {
    char mark = text_[at];
    std::size_t run = std::min(text_.find_first_not_of(mark, at), to) - at;
    std::size_t count = std::min<std::size_t>(run, mark == '~' ? 2 : 3);
    std::size_t open = at + count;
    bool opens = run == count && open < to && text_[open] != ' ' && !(mark == '~' && count != 2) &&
                 !(mark == '_' && at > 0 && is_word(text_[at - 1]));
    if (!opens) return at + run;
    std::string marks(count, mark);
    std::size_t run_end = open + 1;
    for (std::size_t i = text_.find(marks, run_end); i < to; i = text_.find(marks, run_end)) {
      run_end = std::min(text_.find_first_not_of(mark, i), to);
      std::size_t closing = run_end - i;
      if (text_[i - 1] == ' ' || text_[i - 1] == '\\') continue;
      if (mark == '_' && run_end < to && is_word(text_[run_end])) continue;
      // Three marks end two things, the inner one first: **a *b***
      if (closing != count && closing != 3) continue;
      i = run_end - count;
      std::size_t end = run_end;
      put(text_.substr(said, at - said), look);
      TextLook inside = look;
      if (mark == '~') {
        inside.struck = true;
      } else {
        inside.bold = inside.bold || count >= 2;
        inside.italic = inside.italic || count != 2;
      }
      span(open, i, inside, depth + 1);
      said = end;
      return end;
    }
    return at + run;
  }

  std::size_t link(std::size_t at, std::size_t to, std::size_t& said, TextLook look, int depth) {
    std::size_t close = text_.find("](", at);
    if (close >= to) return at;
    std::size_t end = text_.find(')', close);
    std::string_view address = end < to ? text_.substr(close + 2, end - close - 2) : std::string_view();
    if (address.empty() || address.find(' ') != std::string_view::npos) return at;
    put(text_.substr(said, at - said), look);
    TextLook inside = look;
    inside.underlined = true;
    span(at + 1, close, inside, depth + 1);
    if (text_.substr(at + 1, close - at - 1) != address) {
      TextLook dim = look;
      dim.dim = true;
      put(" (" + std::string(address) + ")", dim);
    }
    said = end + 1;
    return end + 1;
  }

  std::string_view text_;
  StyledLine& out_;
};

// The cells of a row: `| a | b |`. A bar behind a backslash belongs to the cell.
std::vector<std::string> cells_of(std::string_view row) {
  row = trimmed(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|') && !row.ends_with("\\|")) row.remove_suffix(1);
  std::vector<std::string> cells(1);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
      cells.back() += row[++i];
    } else if (row[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += row[i];
    }
  }
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

bool is_divider(std::string_view row) {
  return row.find('-') != std::string_view::npos && row.find_first_not_of("|-: \t") == std::string_view::npos;
}

// The rows in aligned columns, the first one as a heading.
std::vector<StyledLine> table_lines(const std::vector<std::string>& rows) {
  if (rows.size() < 2 || !is_divider(rows[1])) {
    std::vector<StyledLine> lines;
    lines.reserve(rows.size());
    for (const std::string& row : rows) lines.push_back(inline_markdown(row));
    return lines;
  }
  std::vector<std::vector<StyledLine>> table;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 1) continue;
    table.emplace_back();
    for (const std::string& cell : cells_of(rows[i])) {
      table.back().push_back(inline_markdown(cell, {.bold = i == 0}));
      std::size_t column = table.back().size() - 1;
      if (widths.size() <= column) widths.push_back(0);
      widths[column] = std::max(widths[column], columns_of(plain_text(table.back().back())));
    }
  }
  std::vector<StyledLine> lines;
  for (std::size_t row = 0; row < table.size(); ++row) {
    StyledLine line;
    for (std::size_t column = 0; column < table[row].size(); ++column) {
      const StyledLine& cell = table[row][column];
      line.parts.insert(line.parts.end(), cell.parts.begin(), cell.parts.end());
      if (column + 1 == table[row].size()) break;
      std::size_t pad = widths[column] - columns_of(plain_text(cell));
      line.parts.push_back({std::string(pad, ' ') + " │ ", kMarkLook});
    }
    lines.push_back(std::move(line));
    if (row > 0) continue;
    std::string rule;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (column > 0) rule += "─┼─";
      for (std::size_t i = 0; i < widths[column]; ++i) rule += "─";
    }
    lines.push_back(styled(rule, kMarkLook));
  }
  return lines;
}

// The marks that open a code block, such as "```"; empty if the line opens none.
std::string_view fence_of(std::string_view line) {
  std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos || (line[first] != '`' && line[first] != '~')) return {};
  std::size_t end = std::min(line.find_first_not_of(line[first], first), line.size());
  if (end - first < 3 || (line[first] == '`' && line.find('`', end) != std::string_view::npos)) return {};
  return line.substr(first, end - first);
}

bool is_rule(std::string_view line) {
  line = trimmed(line);
  if (line.size() < 3 || (line[0] != '-' && line[0] != '*' && line[0] != '_')) return false;
  return std::ranges::all_of(line, [&](char c) { return c == line[0] || c == ' '; }) &&
         std::ranges::count(line, line[0]) >= 3;
}

// The mark of a list's item with the space behind it: "- ", "12. "; 0 if there is none.
std::size_t item_mark(std::string_view text) {
  if (text.size() >= 2 && (text[0] == '-' || text[0] == '*' || text[0] == '+') && text[1] == ' ') return 2;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9') ++digits;
  bool numbered =
      digits > 0 && digits + 1 < text.size() && (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ';
  return numbered ? digits + 2 : 0;
}

StyledLine with_front(std::vector<StyledPart> front, StyledLine line) {
  std::size_t hanging = line.hanging;
  for (const StyledPart& part : front) hanging += columns_of(part.text);
  line.parts.insert(line.parts.begin(), std::make_move_iterator(front.begin()), std::make_move_iterator(front.end()));
  line.hanging = hanging;
  return line;
}

StyledLine block_line(std::string_view line, std::size_t quotes = 0) {
  std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::string_view text = line.substr(indent);
  std::string before(indent, ' ');
  if (text.starts_with('#')) {
    std::size_t level = std::min(text.find_first_not_of('#'), text.size());
    if (level <= 6 && level < text.size() && text[level] == ' ') {
      std::string_view title = trimmed(text.substr(level));
      while (title.ends_with('#')) title.remove_suffix(1);
      return inline_markdown(trimmed(title), {.bold = true, .underlined = level <= 2});
    }
  }
  if (is_rule(text)) {
    std::string rule;
    for (std::size_t i = 0; i < kRuleColumns; ++i) rule += "─";
    return styled(rule, kMarkLook);
  }
  if (text.starts_with('>') && quotes < kMaxQuoteDepth) {
    std::string_view quoted = text.substr(1);
    if (quoted.starts_with(' ')) quoted.remove_prefix(1);
    return with_front({{before + "│ ", kMarkLook}}, block_line(quoted, quotes + 1));
  }
  if (std::size_t mark = item_mark(text); mark > 0) {
    bool bullet = mark == 2 && (text[0] == '-' || text[0] == '*' || text[0] == '+');
    std::string shown = bullet ? "• " : std::string(text.substr(0, mark));
    std::string_view item = text.substr(mark);
    if (item.starts_with("[ ] ")) {
      shown += "☐ ";
      item.remove_prefix(4);
    } else if (item.starts_with("[x] ") || item.starts_with("[X] ")) {
      shown += "☑ ";
      item.remove_prefix(4);
    }
    return with_front({{before + shown, {.color = Color::yellow}}}, inline_markdown(item));
  }
  return with_front({{before}}, inline_markdown(text));
}

}  // namespace

StyledLine inline_markdown(std::string_view text, TextLook look) {
  StyledLine line;
  if (text.size() > kMaxInlineMarkdown) {
    line.parts.push_back({std::string(text), look});
  } else {
    InlineReader(text, line).read(look);
  }
  return line;
}

std::vector<StyledLine> MarkdownText::add(std::string_view piece) {
  std::vector<StyledLine> out;
  held_.append(piece);
  std::size_t at = 0;
  for (std::size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', at)) {
    take_line(std::string_view(held_).substr(at, end - at), out);
    at = end + 1;
  }
  held_.erase(0, at);
  return out;
}

std::vector<StyledLine> MarkdownText::finish() {
  std::vector<StyledLine> out;
  if (!held_.empty()) take_line(std::exchange(held_, {}), out);
  end_table(out);
  while (!out.empty() && plain_text(out.back()).empty()) out.pop_back();
  *this = MarkdownText();
  return out;
}

std::vector<StyledLine> MarkdownText::unfinished() const {
  if (empty()) return {};
  return MarkdownText(*this).finish();
}

void MarkdownText::take_line(std::string_view source, std::vector<StyledLine>& out) {
  std::string text = terminal_text(source, Lines::join);
  std::string_view line = text;
  while (line.ends_with(' ')) line.remove_suffix(1);  // two at the end are a line break, which it is anyway
  if (!fence_.empty()) {
    std::string_view closing = fence_of(line);
    if (closing.size() >= fence_.size() && closing.front() == fence_.front() && trimmed(line) == closing) {
      fence_.clear();
      out.push_back(styled(line, kMarkLook));
    } else {
      out.push_back(styled(line, kCodeLook));
    }
    blank_ = false;
    return;
  }
  if (trimmed(line).starts_with('|') && table_.size() < kMaxTableRows) {
    table_.emplace_back(line);
    return;
  }
  end_table(out);
  if (std::string_view fence = fence_of(line); !fence.empty()) {
    fence_ = fence;
    blank_ = false;
    out.push_back(styled(line, kMarkLook));
    return;
  }
  if (line.empty()) {
    if (!std::exchange(blank_, true)) out.emplace_back();
    return;
  }
  blank_ = false;
  out.push_back(block_line(line));
}

void MarkdownText::end_table(std::vector<StyledLine>& out) {
  if (table_.empty()) return;
  for (StyledLine& line : table_lines(table_)) out.push_back(std::move(line));
  table_.clear();
  blank_ = false;
}

}  // namespace shepherd
