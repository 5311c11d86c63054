#include "terminal/terminal_keys.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "terminal/limits.h"

namespace shepherd {
namespace {

constexpr unsigned char kEscape = 0x1b;

}  // namespace

TerminalKeys::TerminalKeys() {
  sigemptyset(&signals_);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCONT}) sigaddset(&signals_, signal);
  sigprocmask(SIG_BLOCK, &signals_, &signals_before_);
  signal_descriptor_ = signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  termios mode{};
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && tcgetattr(STDIN_FILENO, &mode) == 0) {
    before_ = mode;
    apply();
  }
}

TerminalKeys::~TerminalKeys() {
  if (before_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
  if (signal_descriptor_ >= 0) close(signal_descriptor_);
  sigprocmask(SIG_SETMASK, &signals_before_, nullptr);
}

void TerminalKeys::apply() {
  if (!before_) return;
  termios mode = *before_;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

int TerminalKeys::wait(std::optional<std::chrono::milliseconds> most) {
  std::array<pollfd, 2> polled{pollfd{signal_descriptor_, POLLIN, 0},
                               pollfd{before_ && !input_ended_ ? STDIN_FILENO : -1, POLLIN, 0}};
  int timeout = most ? static_cast<int>(std::clamp<std::int64_t>(most->count(), 0, kMaxKeyWaitMs)) : -1;
  int ready = poll(polled.data(), polled.size(), timeout);
  if (ready <= 0) return kNone;
  if (polled[0].revents != 0) {
    if (int key = read_signal(); key != kNone) return key;
  }
  return polled[1].revents != 0 ? read_key() : kNone;
}

int TerminalKeys::read_signal() {
  signalfd_siginfo info{};
  if (read(signal_descriptor_, &info, sizeof info) != sizeof info) return kNone;
  if (info.ssi_signo != SIGCONT) return kEnd;
  apply();  // the shell changed the terminal's mode while we were stopped
  return kNone;
}

int TerminalKeys::read_key() {
  std::array<unsigned char, 32> bytes{};
  ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got <= 0) {
    input_ended_ = true;  // no more keys can arrive, but the command continues
    return kNone;
  }
  return bytes[0] == kEscape ? kEscape : bytes[0];
}

}  // namespace shepherd
