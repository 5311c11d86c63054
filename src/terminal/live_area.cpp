#include "terminal/live_area.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace shepherd {
namespace {

// The terminal shows what is between them at once, if it knows them.
constexpr std::string_view kBegin = "\x1b[?2026h\x1b[?25l";
constexpr std::string_view kEnd = "\x1b[?2026l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kEraseBelow = "\x1b[J";

}  // namespace

LiveArea::Size LiveArea::size() const {
  winsize given{};
  if (ioctl(descriptor_, TIOCGWINSZ, &given) != 0 || given.ws_col == 0 || given.ws_row == 0) return {};
  return {given.ws_col, given.ws_row};
}

// To the first column of the area's first row. A terminal that became narrower has broken the rows into several.
std::string LiveArea::to_top() const {
  std::size_t columns = size().columns, up = 0;
  for (std::size_t i = 0; i < shown_.cursor_row && i < shown_.widths.size(); ++i) {
    up += std::max<std::size_t>(1, (shown_.widths[i] + columns - 1) / columns);
  }
  up += shown_.cursor_column / columns;
  return up == 0 ? "\r" : "\r\x1b[" + std::to_string(up) + "A";
}

bool LiveArea::draw(const std::vector<std::string>& lines, const ScreenArea& area) {
  std::string out(kBegin);
  out += to_top();
  out += kEraseBelow;
  for (const std::string& line : lines) out += line + "\r\n";
  for (std::size_t i = 0; i < area.rows.size(); ++i) out += (i == 0 ? "" : "\r\n") + area.rows[i];
  std::size_t last = area.rows.empty() ? 0 : area.rows.size() - 1;
  if (last > area.cursor_row) out += "\x1b[" + std::to_string(last - area.cursor_row) + "A";
  out += "\r";
  if (area.cursor_column > 0) out += "\x1b[" + std::to_string(area.cursor_column) + "C";
  if (area.cursor) out += kShowCursor;
  out += kEnd;
  shown_ = area;
  if (shown_.rows.empty()) shown_ = {};
  return write(out);
}

void LiveArea::clear() {
  write(to_top() + std::string(kEraseBelow) + std::string(kShowCursor));
  shown_ = {};
}

void LiveArea::clear_screen() {
  write("\x1b[H\x1b[2J");
  shown_ = {};
}

bool LiveArea::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace shepherd
