// The writer: the one thread that commits. Operations that arrive during a commit form the next commit.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/write_operation.h"
#include "store/event_store.h"

namespace shepherd {

using CommitPtr = std::shared_ptr<const Commit>;

// Called for each transaction on the writer's thread: before its operations' committed(), so that a caller that gets
// its answer also finds the events, and after them. `failed` is called instead when the commit failed.
struct CommitHooks {
  std::function<void(const CommitPtr&)> before_answers, after_answers;
  std::function<void(const Error&)> failed;
};

// Threads: any may submit; operations run on the writer's thread.
class Writer {
 public:
  // With `threaded` false nothing runs by itself; the owner calls step() (simulation).
  Writer(EventStore& store, CommitHooks hooks, MetricRegistry& metrics, bool threaded = true);
  ~Writer();  // commits the queue
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Takes the operation; unavailable/busy if the queue is full, and then leaves it with the caller, uncalled.
  Result<void> submit(std::unique_ptr<WriteOperation>& operation) EXCLUDES(mutex_);
  // Runs one group commit of the queue; returns false if it was empty.
  bool step() EXCLUDES(mutex_);
  // Waits until everything submitted before is committed and completed.
  void drain() EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);
  std::vector<std::unique_ptr<WriteOperation>> take() REQUIRES(mutex_);
  void commit(std::vector<std::unique_ptr<WriteOperation>> batch) EXCLUDES(mutex_);

  EventStore& store_;
  const CommitHooks hooks_;
  Histogram& commit_seconds_;
  Counter& commits_;
  Counter& failures_;
  Mutex mutex_;
  CondVar ready_;
  CondVar idle_;
  std::vector<std::unique_ptr<WriteOperation>> queue_ GUARDED_BY(mutex_);
  std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool committing_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace shepherd
