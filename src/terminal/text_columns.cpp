#include "terminal/text_columns.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace shepherd {
namespace {

// Threads: any; uses the thread's locale only for the call.
int width_of(char32_t character) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  locale_t before = utf8 == nullptr ? nullptr : uselocale(utf8);
  int width = wcwidth(static_cast<wchar_t>(character));
  if (before != nullptr) uselocale(before);
  return width < 0 ? 0 : width;
}

// Reads one UTF-8 character; each bad byte takes one column.
std::size_t next_character(std::string_view text, char32_t& character) {
  auto lead = static_cast<unsigned char>(text.front());
  std::size_t size = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (size > text.size()) size = 1;
  character = size == 1 ? lead : lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    character = character << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return size;
}

std::size_t width_at(std::string_view text, std::size_t& size) {
  char32_t character = 0;
  size = next_character(text, character);
  return static_cast<std::size_t>(character < 0x80 ? 1 : width_of(character));
}

}  // namespace

std::size_t bytes_that_fit(std::string_view line, std::size_t columns) {
  std::size_t used = 0, end = 0, after_space = 0;
  while (end < line.size()) {
    std::size_t size = 0;
    used += width_at(line.substr(end), size);
    if (used > columns && line[end] != ' ' && end > 0) return after_space > 0 ? after_space : end;
    end += size;
    // Spaces at a break stay at the end of the line, where they are invisible.
    if (line[end - size] == ' ' && line.find_first_not_of(' ') < end) after_space = end;
  }
  return end;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    char32_t character = 0;
    std::size_t size = next_character(text, character);
    columns += static_cast<std::size_t>(character < 0x80 ? 1 : width_of(character));
    text.remove_prefix(size);
  }
  return columns;
}

std::string cut_to_columns(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    char32_t character = 0;
    std::size_t size = next_character(text.substr(end), character);
    auto width = static_cast<std::size_t>(character < 0x80 ? 1 : width_of(character));
    if (used + width > columns - 1) break;
    used += width;
    end += size;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrapped_lines(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (true) {
    std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (columns == 0 || indent > columns / 2) indent = 0;
    std::string before;
    while (columns > 0 && columns_of(line) > columns - before.size()) {
      std::size_t bytes = bytes_that_fit(line, columns - before.size());
      if (bytes == line.size()) break;  // only spaces exceed the width
      lines.push_back(before + std::string(line.substr(0, bytes)));
      line.remove_prefix(bytes);
      before.assign(indent, ' ');
    }
    lines.push_back(before + std::string(line));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

}  // namespace shepherd
