#include "demo/input.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>

namespace scripted {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() {
  return now(CLOCK_MONOTONIC);
}

std::int64_t wall_ns() {
  return now(CLOCK_REALTIME);
}

Input::Input() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
}

Input::Arrival Input::wait(std::int64_t deadline_ns, bool listen, int descriptor) {
  for (;;) {
    if (listen) {
      if (std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        Arrival arrival{Arrival::Kind::line, buffer_.substr(0, end), 0};
        buffer_.erase(0, end + 1);
        return arrival;
      }
      if (ended_ && !end_told_) {
        end_told_ = true;
        return {Arrival::Kind::end, std::move(buffer_), 0};
      }
    }
    std::array<pollfd, 3> ready{
        {{signals_, POLLIN, 0}, {listen && !ended_ ? STDIN_FILENO : -1, POLLIN, 0}, {descriptor, POLLIN, 0}}};
    std::int64_t ns = deadline_ns == kForever ? kSecond : std::max<std::int64_t>(deadline_ns - monotonic_ns(), 0);
    timespec left{.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
    int count = ppoll(ready.data(), ready.size(), deadline_ns == kForever ? nullptr : &left, nullptr);
    if (count == 0 && ns == 0) return {};
    if (count <= 0) continue;
    if (ready[0].revents != 0) {
      signalfd_siginfo info{};
      if (read(signals_, &info, sizeof info) == sizeof info) {
        return {Arrival::Kind::signal, "", static_cast<int>(info.ssi_signo)};
      }
    }
    if (ready[2].revents != 0) return {Arrival::Kind::readable, "", 0};
    if (ready[1].revents != 0 && !fill()) ended_ = true;
  }
}

std::string Input::read_all() {
  while (fill()) {
  }
  ended_ = end_told_ = true;
  return std::move(buffer_);
}

bool Input::fill() {
  std::array<char, 65536> piece;
  ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
  if (got > 0) buffer_.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace scripted
