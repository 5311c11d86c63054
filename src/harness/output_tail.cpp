#include "harness/output_tail.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "base/limits.h"
#include "base/mutex.h"
#include "driver/limits.h"

namespace shepherd::harness {

struct OutputTail::Reader {
  int reading = -1, writing = -1, stop = -1;
  std::thread thread;
  mutable Mutex mutex;
  std::string tail GUARDED_BY(mutex);

  ~Reader() {
    if (thread.joinable()) {
      std::uint64_t one = 1;
      [[maybe_unused]] ssize_t told = ::write(stop, &one, sizeof one);
      thread.join();
    }
    for (int each : {reading, writing, stop}) {
      if (each >= 0) ::close(each);
    }
  }

  enum class Took { some, none_now, no_more };

  // Reads under the lock, so that two readers keep the order.
  Took take() EXCLUDES(mutex) {
    std::array<char, kAgentReadBytes> bytes{};
    MutexLock lock(mutex);
    ssize_t got = ::read(reading, bytes.data(), bytes.size());
    if (got < 0) return Took::none_now;
    if (got == 0) return Took::no_more;
    tail.append(bytes.data(), static_cast<std::size_t>(got));
    if (tail.size() > kStderrTailBytes) tail.erase(0, tail.size() - kStderrTailBytes);
    return Took::some;
  }

  void run() EXCLUDES(mutex) {
    std::array<pollfd, 2> watched{{{reading, POLLIN, 0}, {stop, POLLIN, 0}}};
    for (;;) {
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
      if (watched[1].revents != 0) return;
      if (watched[0].revents != 0 && take() == Took::no_more) return;
    }
  }
};

Result<OutputTail> OutputTail::open() {
  auto reader = std::make_unique<Reader>();
  std::array<int, 2> ends{};
  reader->stop = ::eventfd(0, EFD_CLOEXEC);
  if (reader->stop < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::unavailable, "agent_start",
                std::string("no pipe for the agent's output: ") + std::strerror(errno));
  }
  reader->reading = ends[0];
  reader->writing = ends[1];
  ::fcntl(reader->reading, F_SETFL, O_NONBLOCK);
  reader->thread = std::thread([raw = reader.get()] { raw->run(); });
  return OutputTail(std::move(reader));
}

OutputTail::OutputTail(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
OutputTail::OutputTail(OutputTail&&) noexcept = default;
OutputTail::~OutputTail() = default;

int OutputTail::writing_end() const {
  return reader_->writing;
}

void OutputTail::close_writing_end() {
  ::close(std::exchange(reader_->writing, -1));
}

std::string OutputTail::text() const {
  // Reads what is already in the pipe, so that an ended process's output is complete even if the thread has not run
  // yet.
  constexpr std::size_t kMost =
      static_cast<std::size_t>(kAgentPipeBytes) / kAgentReadBytes;  // so that a flood ends the loop
  for (std::size_t i = 0; i < kMost && reader_->take() == Reader::Took::some; ++i) {
  }
  MutexLock lock(reader_->mutex);
  return reader_->tail;
}

}  // namespace shepherd::harness
