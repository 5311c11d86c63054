// The loop of one io thread: readiness of descriptors, work posted by other threads, ticks.
//
// It uses plain edge-triggered epoll: a descriptor is registered once for its whole life. Asio's async_wait would cost
// an epoll_ctl and an allocated operation for every wait, which is every request and every idle consumer.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "net/limits.h"

namespace shepherd::net {

// Owns the epoll descriptor and the queue of posted work. Exactly one thread calls run(), or turn(); functions marked
// "loop thread" may only be called there. Threads: any for post(), stop() and in_loop(); otherwise strand (the loop
// thread).
class EventLoop final : public Executor {
 public:
  // Called when its descriptor became readable or writable (an edge, so it must continue until EAGAIN). It must stay
  // alive until work posted after its unwatch() has run, because events for it may already be pending.
  class Watcher {
   public:
    virtual void on_events(std::uint32_t epoll_events) = 0;

   protected:
    ~Watcher() = default;
  };

  // An object with deadlines.
  class Ticker {
   public:
    virtual std::chrono::milliseconds tick() = 0;  // returns when to call it again
    virtual void on_loop_stop() = 0;               // release every descriptor and remove yourself

   protected:
    ~Ticker() = default;
  };

  EventLoop();
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // All posts between two turns cost one wake-up, and none while the loop is awake. After the loop has ended, work is
  // dropped. The queue has no room to refuse work, because an answer that is lost would hang its client; it is bounded
  // by those who post: a connection, stream, feed or call has a few pieces of work here at a time, a wake-up of a log
  // waits until its feeds have looked, and a message to many streams until all have taken the one before. The sum is
  // below kMaxPosted.
  void post(Work work) override EXCLUDES(mutex_);
  bool in_loop() const;
  void run() EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);
  // For a loop without a thread of its own, instead of run(): handles what is ready and posted, and waits for it at
  // most until `until`. The thread that calls it is the loop thread meanwhile.
  void turn(std::chrono::steady_clock::time_point until) EXCLUDES(mutex_);

  enum class Trigger { edge, level };
  // Loop thread. Returns false if the kernel has no room for another registration.
  bool watch(int fd, Watcher& watcher, Trigger trigger = Trigger::edge);
  void rewatch(int fd, Watcher& watcher);  // changes the owner; reports the current readiness again
  void unwatch(int fd);
  void add_ticker(Ticker& ticker, std::chrono::milliseconds first);
  void set_due(Ticker& ticker, std::chrono::steady_clock::time_point due);  // of an added one
  void remove_ticker(Ticker& ticker);

  // The shared read buffer of this thread's connections. Valid until the next one reads, which never happens inside a
  // connection's own callbacks: connections resume each other only through post().
  std::span<char> read_buffer() { return read_buffer_; }
  // Reusable strings for responses, so that idle connections own none.
  std::string take_buffer();
  void give_buffer(std::string&& buffer);

 private:
  struct Tick {
    Ticker* ticker;
    std::chrono::steady_clock::time_point due;
  };

  int wait_ms(std::chrono::steady_clock::time_point until) EXCLUDES(mutex_);
  void wait_for_events(std::chrono::steady_clock::time_point until) EXCLUDES(mutex_);
  bool run_posted() EXCLUDES(mutex_);
  void run_tickers();
  void end() EXCLUDES(mutex_);
  void wake();

  int epoll_ = -1;
  int wake_ = -1;
  std::vector<Tick> tickers_;
  std::vector<Work> running_;
  std::vector<std::string> buffers_;
  std::array<char, kReadBufferBytes> read_buffer_;

  Mutex mutex_;
  std::vector<Work> posted_ GUARDED_BY(mutex_);  // at most kMaxPosted
  bool asleep_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd::net
