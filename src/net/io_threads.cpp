#include "net/io_threads.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <string>

namespace shepherd::net {

namespace {

void run_loop(EventLoop& loop, std::size_t number) {
  // Signals belong to the main thread, and a write to a closed TLS connection must return an error code, not raise
  // SIGPIPE.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), ("io-" + std::to_string(number)).c_str());
  loop.run();
}

}  // namespace

IoThreads::IoThreads(std::size_t threads) : impl_(std::make_unique<Impl>()) {
  threads = std::max<std::size_t>(threads, 1);
  for (std::size_t i = 0; i < threads; ++i) impl_->loops.emplace_back();
  for (std::size_t i = 0; i < threads; ++i) {
    impl_->threads.emplace_back([&loop = impl_->loops[i], i] { run_loop(loop, i); });
  }
}

IoThreads::~IoThreads() {
  stop();
}

std::size_t IoThreads::size() const {
  return impl_->loops.size();
}

Executor& IoThreads::executor(std::size_t i) {
  return impl_->loops.at(i);
}

EventLoop& IoThreads::loop(std::size_t i) {
  return impl_->loops.at(i);
}

void IoThreads::stop() {
  for (EventLoop& loop : impl_->loops) loop.stop();
  for (std::thread& thread : impl_->threads) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace shepherd::net
