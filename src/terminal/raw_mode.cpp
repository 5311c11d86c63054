#include "terminal/raw_mode.h"

#include <unistd.h>

#include <string_view>

namespace shepherd {
namespace {

void say(std::string_view bytes) {
  static_cast<void>(!::write(STDOUT_FILENO, bytes.data(), bytes.size()));
}

}  // namespace

bool RawMode::possible() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

RawMode::RawMode() {
  termios mode{};
  if (!possible() || tcgetattr(STDIN_FILENO, &mode) != 0) return;
  before_ = mode;
  enter();
}

RawMode::~RawMode() {
  leave();
}

void RawMode::enter() {
  if (!before_) return;
  termios mode = *before_;
  mode.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | IXON | ISTRIP | BRKINT);
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  say("\x1b[?2004h");
}

void RawMode::leave() {
  if (!before_) return;
  say("\x1b[?2004l");
  tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

}  // namespace shepherd
