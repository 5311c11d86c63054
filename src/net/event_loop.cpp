#include "net/event_loop.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "net/limits.h"

namespace shepherd::net {

namespace {

constexpr std::size_t kSpareBuffers = 8;

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

thread_local const EventLoop* current_loop = nullptr;

}  // namespace

EventLoop::EventLoop() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  SHEPHERD_ASSERT(epoll_ >= 0 && wake_ >= 0, "an io thread needs two descriptors at start");
  // Edge-triggered, so that the counter never needs to be read.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  SHEPHERD_ASSERT(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0, "the wake-up descriptor can be watched");
}

EventLoop::~EventLoop() {
  ::close(wake_);
  ::close(epoll_);
}

bool EventLoop::in_loop() const {
  return current_loop == this;
}

void EventLoop::post(Work work) {
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    SHEPHERD_ASSERT(posted_.size() < kMaxPosted, "who posts to an io thread waits until it has run");
    posted_.push_back(std::move(work));
    if (!asleep_) return;
    asleep_ = false;
  }
  wake();
}

void EventLoop::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    asleep_ = false;
  }
  wake();
}

void EventLoop::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
}

bool EventLoop::watch(int fd, Watcher& watcher, Trigger trigger) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &watcher}};
  if (trigger == Trigger::edge) event.events |= EPOLLOUT | EPOLLRDHUP | EPOLLET;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLoop::rewatch(int fd, Watcher& watcher) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &watcher}};
  SHEPHERD_ASSERT(epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0, "a watched descriptor can change its watcher");
}

void EventLoop::unwatch(int fd) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::add_ticker(Ticker& ticker, std::chrono::milliseconds first) {
  tickers_.push_back({&ticker, std::chrono::steady_clock::now() + first});
}

void EventLoop::set_due(Ticker& ticker, std::chrono::steady_clock::time_point due) {
  for (Tick& tick : tickers_) {
    if (tick.ticker == &ticker) tick.due = due;
  }
}

void EventLoop::remove_ticker(Ticker& ticker) {
  std::erase_if(tickers_, [&](const Tick& tick) { return tick.ticker == &ticker; });
}

std::string EventLoop::take_buffer() {
  if (buffers_.empty()) return {};
  std::string buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void EventLoop::give_buffer(std::string&& buffer) {
  if (buffers_.size() >= kSpareBuffers || buffer.capacity() > kReadBufferBytes) {
    buffer = std::string();
    return;
  }
  buffer.clear();
  buffers_.push_back(std::move(buffer));
}

int EventLoop::wait_ms(std::chrono::steady_clock::time_point until) {
  auto due = until;
  for (const Tick& tick : tickers_) due = std::min(due, tick.due);
  MutexLock lock(mutex_);
  if (!posted_.empty() || stopping_) return 0;
  int wait = -1;
  if (due != kNever) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
    wait = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
  }
  asleep_ = wait != 0;
  return wait;
}

bool EventLoop::run_posted() {
  {
    MutexLock lock(mutex_);
    asleep_ = false;
    posted_.swap(running_);
  }
  for (Work& work : running_) {
    work();
    work = nullptr;  // releases its captures now, not after the last of the batch
  }
  bool any = !running_.empty();
  running_.clear();
  return any;
}

void EventLoop::run_tickers() {
  if (tickers_.empty()) return;
  auto now = std::chrono::steady_clock::now();
  // By index, because a tick may add or remove tickers.
  for (std::size_t i = 0; i < tickers_.size(); ++i) {
    if (tickers_[i].due > now) continue;
    Ticker* ticker = tickers_[i].ticker;
    auto next = now + ticker->tick();
    for (Tick& tick : tickers_) {
      if (tick.ticker == ticker) tick.due = next;
    }
  }
}

void EventLoop::wait_for_events(std::chrono::steady_clock::time_point until) {
  std::array<epoll_event, kEventsPerWait> events;
  int ready = epoll_wait(epoll_, events.data(), kEventsPerWait, wait_ms(until));
  SHEPHERD_ASSERT(ready >= 0 || errno == EINTR, "epoll_wait fails only by a signal");
  for (int i = 0; i < ready; ++i) {
    if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) continue;
    static_cast<Watcher*>(events[static_cast<std::size_t>(i)].data.ptr)
        ->on_events(events[static_cast<std::size_t>(i)].events);
  }
}

void EventLoop::turn(std::chrono::steady_clock::time_point until) {
  const EventLoop* outer = std::exchange(current_loop, this);
  wait_for_events(until);
  run_posted();
  run_tickers();
  current_loop = outer;
}

void EventLoop::run() {
  current_loop = this;
  for (;;) {
    wait_for_events(kNever);
    // Yields so that waiting threads get this core now and not at the end of the time slice. The writer thread can then
    // commit what these connections sent, and that goes out with the rest of the delivery.
    if (run_posted()) sched_yield();
    run_tickers();
    MutexLock lock(mutex_);
    if (stopping_) break;
  }
  end();
  current_loop = nullptr;
}

void EventLoop::end() {
  for (;;) {
    auto tickers = tickers_;
    for (const Tick& tick : tickers) tick.ticker->on_loop_stop();
    if (run_posted()) continue;
    MutexLock lock(mutex_);
    if (!posted_.empty()) continue;
    ended_ = true;
    return;
  }
}

}  // namespace shepherd::net
