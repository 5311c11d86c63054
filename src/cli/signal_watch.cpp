#include "cli/signal_watch.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

namespace shepherd {

SignalWatch::SignalWatch(net::EventLoop& loop, std::initializer_list<int> signals, std::function<void(int)> take)
    : loop_(loop), take_(std::move(take)) {
  sigset_t set{};
  sigemptyset(&set);
  for (int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ >= 0) loop_.watch(descriptor_, *this, net::EventLoop::Trigger::level);
}

SignalWatch::~SignalWatch() {
  if (descriptor_ >= 0) {
    loop_.unwatch(descriptor_);
    close(descriptor_);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::on_events(std::uint32_t) {
  signalfd_siginfo info{};
  while (read(descriptor_, &info, sizeof info) == sizeof info) take_(static_cast<int>(info.ssi_signo));
}

}  // namespace shepherd
