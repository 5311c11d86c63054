#include "journal/writer.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "journal/limits.h"

namespace shepherd {

Writer::Writer(EventStore& store, CommitHooks hooks, MetricRegistry& metrics, bool threaded)
    : store_(store),
      hooks_(std::move(hooks)),
      commit_seconds_(metrics.histogram("shepherd_commit_seconds", "Time of one group commit")),
      commits_(metrics.counter("shepherd_commits_total", "Group commits")),
      failures_(
          metrics.counter("shepherd_commit_failures_total", "Group commits that failed; nothing was acknowledged")) {
  if (threaded) {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "writer");
  }
}

Writer::~Writer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> Writer::submit(std::unique_ptr<WriteOperation>& operation) {
  MutexLock lock(mutex_);
  if (stopping_)
    return fail(ErrorCode::unavailable, "stopping", "the server is shutting down; retry after its restart");
  if (queue_.size() >= kMaxQueuedWrites || queued_bytes_ + operation->bytes() > kMaxQueuedWriteBytes) {
    return fail(ErrorCode::unavailable, "busy", "more writes are waiting than the disk can take; retry in a moment");
  }
  queued_bytes_ += operation->bytes();
  queue_.push_back(std::move(operation));
  // During a commit the writer rechecks the queue by itself. Notifies under the lock: once it is free, the operation
  // may be done and the writer destroyed.
  if (queue_.size() == 1 && !committing_) ready_.notify_one();
  return {};
}

std::vector<std::unique_ptr<WriteOperation>> Writer::take() {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < queue_.size() && (count == 0 || bytes + queue_[count]->bytes() <= kMaxCommitBytes)) {
    bytes += queue_[count++]->bytes();
  }
  SHEPHERD_ASSERT(queued_bytes_ >= bytes, "the queue counts the bytes of what is in it");
  queued_bytes_ -= bytes;
  if (count == queue_.size()) return std::exchange(queue_, {});
  auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::unique_ptr<WriteOperation>> batch(std::make_move_iterator(queue_.begin()),
                                                     std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

void Writer::commit(std::vector<std::unique_ptr<WriteOperation>> batch) {
  auto begin = std::chrono::steady_clock::now();
  auto committed = store_.write([&](WriteTxn& txn) {
    for (auto& operation : batch) operation->run(txn);
  });
  commit_seconds_.observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  commits_.add();
  if (!committed) {
    failures_.add();
    log_error("a commit failed, {} writes were refused: {}", batch.size(), committed.error().message);
    hooks_.failed(committed.error());
    for (auto& operation : batch) operation->failed(committed.error());
    return;
  }
  auto commit = std::make_shared<const Commit>(std::move(*committed));
  hooks_.before_answers(commit);
  // Producers first: their next events arrive while consumers are served, and then go out together.
  for (auto& operation : batch) operation->committed();
  hooks_.after_answers(commit);
}

bool Writer::step() {
  std::vector<std::unique_ptr<WriteOperation>> batch;
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(!committing_, "one commit at a time");
    if (queue_.empty()) return false;
    batch = take();
    committing_ = true;
  }
  commit(std::move(batch));
  {
    MutexLock lock(mutex_);
    committing_ = false;
  }
  idle_.notify_all();
  return true;
}

void Writer::run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) ready_.wait(mutex_);
      if (queue_.empty()) return;
    }
    step();
  }
}

void Writer::drain() {
  if (!thread_.joinable()) {
    while (step()) {
    }
    return;
  }
  MutexLock lock(mutex_);
  while (!queue_.empty() || committing_) idle_.wait(mutex_);
}

}  // namespace shepherd
