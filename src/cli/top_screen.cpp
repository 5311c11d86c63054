#include "cli/top_screen.h"

#define NCURSES_NOMACROS 1
#include <ncurses.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <utility>

#include "cli/limits.h"

namespace shepherd {
namespace {

constexpr int kCtrlC = 3;
constexpr int kCtrlZ = 26;
constexpr int kEscape = 27;
constexpr int kDelete = 127;
constexpr int kBackspace = 8;

// Colours by pair number; bold, dim and plain are attributes.
short pair_of(Color color) {
  switch (color) {
    case Color::red:
      return 1;
    case Color::green:
      return 2;
    case Color::yellow:
      return 3;
    case Color::blue:
      return 4;
    case Color::magenta:
      return 5;
    case Color::cyan:
      return 6;
    default:
      return 0;
  }
}

attr_t attributes_of(Color color) {
  if (color == Color::bold) return A_BOLD;
  if (color == Color::dim) return A_DIM;
  return A_NORMAL;
}

bool is_utf8_locale() {
  const char* name = setlocale(LC_CTYPE, nullptr);
  std::string_view text = name == nullptr ? "" : name;
  return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos;
}

}  // namespace

Result<TopScreen> TopScreen::open(bool colored) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
    return fail(ErrorCode::invalid_argument, "no_terminal",
                "top needs a terminal; programs use \"shepherd tasks --json\" or \"shepherd watch --json\"");
  }
  setlocale(LC_CTYPE, "");
  if (!is_utf8_locale()) setlocale(LC_CTYPE, "C.UTF-8");  // tasks are UTF-8 regardless of the locale
  if (newterm(nullptr, stdout, stdin) == nullptr) {
    return fail(ErrorCode::invalid_argument, "no_terminal",
                "this kind of terminal is not known; set TERM, e.g. TERM=xterm-256color");
  }
  raw();
  noecho();
  nonl();
  keypad(stdscr, true);
  nodelay(stdscr, true);
  set_escdelay(kTopEscapeWaitMs);
  curs_set(0);
  if (colored && has_colors()) {
    start_color();
    use_default_colors();
    constexpr short kColors[] = {COLOR_RED, COLOR_GREEN, COLOR_YELLOW, COLOR_BLUE, COLOR_MAGENTA, COLOR_CYAN};
    for (short i = 0; i < 6; ++i) init_pair(static_cast<short>(i + 1), kColors[i], -1);
  }
  return TopScreen();
}

TopScreen::TopScreen(TopScreen&& other) noexcept : owns_(std::exchange(other.owns_, false)) {}

TopScreen::~TopScreen() {
  if (owns_) endwin();
}

ScreenSize TopScreen::size() const {
  return {static_cast<std::size_t>(std::max(1, getmaxx(stdscr))),
          static_cast<std::size_t>(std::max(1, getmaxy(stdscr)))};
}

void TopScreen::draw(const std::vector<ScreenLine>& lines) {
  werase(stdscr);
  int number = 0;
  for (const ScreenLine& line : lines) {
    attr_t base = line.reversed ? A_REVERSE : A_NORMAL;
    if (line.reversed) {
      wattr_set(stdscr, base, 0, nullptr);
      wmove(stdscr, number, 0);
      whline(stdscr, ' ' | A_REVERSE, getmaxx(stdscr));
    }
    for (const ScreenSpan& span : line.spans) {
      short pair = line.reversed ? short{0} : pair_of(span.color);
      wattr_set(stdscr, base | (line.reversed ? A_NORMAL : attributes_of(span.color)), pair, nullptr);
      if (wmove(stdscr, number, static_cast<int>(span.column)) == OK) {
        waddnstr(stdscr, span.text.data(), static_cast<int>(span.text.size()));
      }
    }
    ++number;
  }
  wattr_set(stdscr, A_NORMAL, 0, nullptr);
  wrefresh(stdscr);
}

TopKey TopScreen::key() {
  int got = wgetch(stdscr);
  switch (got) {
    case ERR:
      return TopKey::none;
    case KEY_UP:
      return TopKey::up;
    case KEY_DOWN:
      return TopKey::down;
    case KEY_PPAGE:
      return TopKey::page_up;
    case KEY_NPAGE:
      return TopKey::page_down;
    case KEY_HOME:
      return TopKey::home;
    case KEY_END:
      return TopKey::end;
    case KEY_ENTER:
    case '\r':
    case '\n':
      return TopKey::enter;
    case kEscape:
      return TopKey::escape;
    case KEY_BACKSPACE:
    case kDelete:
    case kBackspace:
      return TopKey::backspace;
    case KEY_F(9):
      return TopKey::stop;
    case KEY_RESIZE:
      return TopKey::resized;
    case kCtrlC:
      return TopKey::quit;
    case kCtrlZ:
      suspend();
      return TopKey::resized;
    default:
      return got > 0 && got < 256 ? static_cast<TopKey>(got) : TopKey::other;
  }
}

void TopScreen::suspend() {
  def_prog_mode();
  endwin();
  std::raise(SIGSTOP);
  reset_prog_mode();
  wrefresh(curscr);
}

}  // namespace shepherd
