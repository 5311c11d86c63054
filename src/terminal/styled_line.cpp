#include "terminal/styled_line.h"

#include <algorithm>
#include <utility>

#include "terminal/text_columns.h"

namespace shepherd {
namespace {

std::string_view color_digits(Color color) {
  switch (color) {
    case Color::plain:
      return "";
    case Color::bold:
      return "1";
    case Color::dim:
      return "2";
    case Color::red:
      return "31";
    case Color::green:
      return "32";
    case Color::yellow:
      return "33";
    case Color::blue:
      return "34";
    case Color::magenta:
      return "35";
    case Color::cyan:
      return "36";
  }
  return "";
}

std::string look_code(const TextLook& look) {
  std::string digits;
  auto add = [&](bool on, std::string_view text) {
    if (!on || text.empty()) return;
    if (!digits.empty()) digits += ';';
    digits += text;
  };
  add(look.bold, "1");
  add(look.dim, "2");
  add(look.italic, "3");
  add(look.underlined, "4");
  add(look.struck, "9");
  add(true, color_digits(look.color));
  return digits.empty() ? digits : "\x1b[" + digits + "m";
}

// The bytes [from, to) of the line's text, with their looks.
std::vector<StyledPart> slice(const StyledLine& line, std::size_t from, std::size_t to) {
  std::vector<StyledPart> parts;
  std::size_t at = 0;
  for (const StyledPart& part : line.parts) {
    std::size_t begin = std::max(from, at), end = std::min(to, at + part.text.size());
    if (begin < end) parts.push_back({part.text.substr(begin - at, end - begin), part.look});
    at += part.text.size();
  }
  return parts;
}

}  // namespace

StyledLine styled(std::string_view text, TextLook look, std::size_t hanging) {
  return {{{std::string(text), look}}, hanging};
}

std::string plain_text(const StyledLine& line) {
  std::string text;
  for (const StyledPart& part : line.parts) text += part.text;
  return text;
}

std::vector<StyledLine> wrapped(const StyledLine& line, std::size_t columns) {
  std::string text = plain_text(line);
  if (columns == 0 || columns_of(text) <= columns) return {line};
  std::size_t hanging = line.hanging > columns / 2 ? 0 : line.hanging;
  std::vector<StyledLine> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t room = lines.empty() ? columns : columns - hanging;
    std::size_t bytes = bytes_that_fit(std::string_view(text).substr(at), room);
    std::size_t end = at + bytes;
    while (end > at + 1 && text[end - 1] == ' ') --end;  // invisible, and could exceed the width
    StyledLine next{slice(line, at, end), hanging};
    if (!lines.empty() && hanging > 0) next.parts.insert(next.parts.begin(), {std::string(hanging, ' ')});
    lines.push_back(std::move(next));
    at += bytes;
  }
  return lines;
}

std::string painted(const StyledLine& line, bool colored) {
  std::string out;
  for (const StyledPart& part : line.parts) {
    std::string code = colored ? look_code(part.look) : std::string();
    out += code;
    out += part.text;
    if (!code.empty()) out += "\x1b[0m";
  }
  return out;
}

}  // namespace shepherd
