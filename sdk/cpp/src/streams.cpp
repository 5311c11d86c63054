#include "streams.h"

#include <algorithm>
#include <vector>

namespace shepherd::agent {

Streams::Streams(const ServerOptions& options, Work work)
    : options_(options), work_(std::move(work)), pulse_thread_([this] { pulse(); }) {}

Streams::~Streams() {
  stop_all();
  wait_until_work_has_ended();
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  pulse_thread_.join();
}

bool Streams::admit(const std::shared_ptr<Conversation>& conversation) {
  {
    std::lock_guard lock(mutex_);
    // Work that outlives its stream still has its thread, so it counts.
    if (stopping_ || std::max(open_.size(), working_) >= options_.max_streams) return false;
    open_.insert(conversation);
  }
  changed_.notify_all();
  return true;
}

void Streams::begin_work(const std::shared_ptr<Conversation>& conversation) {
  {
    std::lock_guard lock(mutex_);
    ++working_;
  }
  // Detached, because shutdown waits for the count above, and work that never returns must not block the process.
  std::thread([this, conversation] {
    std::exception_ptr thrown;
    try {
      Execution execution(conversation);
      work_(execution);
    } catch (...) {
      thrown = std::current_exception();
    }
    conversation->finish(thrown);
    std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_all();  // under the lock, because the waiting thread may destroy this object right after
  }).detach();
}

void Streams::closed(const std::shared_ptr<Conversation>& conversation) {
  std::lock_guard lock(mutex_);
  open_.erase(conversation);
  changed_.notify_all();
}

void Streams::stop_all() {
  std::vector<std::shared_ptr<Conversation>> open;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    open.assign(open_.begin(), open_.end());
  }
  for (const auto& conversation : open) conversation->stop(StopReason::shutdown);
}

bool Streams::wait_until_idle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return open_.empty() && working_ == 0; });
}

void Streams::wait_until_work_has_ended() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return working_ == 0; });
}

void Streams::pulse() {
  // Frequent enough for both time limits that tend() enforces, and never a busy loop when one of them is 0.
  auto pause = std::max(std::min(options_.batch_interval, options_.send_deadline / 2), std::chrono::milliseconds(1));
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (open_.empty()) {
      changed_.wait(lock, [this] { return ending_ || !open_.empty(); });
      continue;
    }
    std::vector<std::shared_ptr<Conversation>> open(open_.begin(), open_.end());
    lock.unlock();
    for (const auto& conversation : open) conversation->tend();
    open.clear();
    lock.lock();
    changed_.wait_for(lock, pause, [this] { return ending_; });
  }
}

}  // namespace shepherd::agent
