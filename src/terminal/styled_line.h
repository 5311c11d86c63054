// A line whose parts have their own looks, before it is broken to the width of a terminal.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/output.h"

namespace shepherd {

struct TextLook {
  Color color = Color::plain;
  bool bold = false, dim = false, italic = false, underlined = false, struck = false;
  bool operator==(const TextLook&) const = default;
};

struct StyledPart {
  std::string text;  // harmless (terminal_text), without line breaks
  TextLook look = {};
};

struct StyledLine {
  std::vector<StyledPart> parts;
  std::size_t hanging = 0;  // columns by which continuation lines are indented
};

StyledLine styled(std::string_view text, TextLook look = {}, std::size_t hanging = 0);
std::string plain_text(const StyledLine& line);

// The line broken to at most `columns`, between words if possible. No text is lost. With 0 it stays as it is.
std::vector<StyledLine> wrapped(const StyledLine& line, std::size_t columns);

// The line with the terminal's codes for its looks, or without any.
std::string painted(const StyledLine& line, bool colored);

}  // namespace shepherd
