// The writer: the one thread that commits. Operations queue up; whatever arrived during a commit is the next commit.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

// One operation of a transaction: run() works inside it, then exactly one of committed() or failed() follows outside.
// An interface: the journal has one implementation for each type of answer.
class WriteOperation {
 public:
  virtual ~WriteOperation() = default;
  virtual void run(WriteTxn& txn) = 0;
  virtual void committed() = 0;
  virtual void failed(const Error& error) = 0;
  virtual std::size_t bytes() const = 0;  // rough cost in the queue
};

// Called for each transaction, on the writer's thread: before its operations' committed(), so that a caller that has
// its answer also finds the events, and after it.
struct CommitHooks {
  std::function<void(const Commit&)> before_answers, after_answers;
};

// Threads: any may submit; operations run on the writer's thread.
class Writer {
 public:
  // With `threaded` false nothing runs by itself: the owner calls step() (simulation).
  Writer(EventStore& store, CommitHooks hooks, MetricRegistry& metrics, bool threaded = true);
  ~Writer();  // commits what is queued
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Takes the operation; unavailable/busy when the queue is full, and then leaves it with the caller, uncalled.
  template <class Operation>
  Result<void> submit_or_keep(std::unique_ptr<Operation>& operation) EXCLUDES(mutex_) {
    std::unique_ptr<WriteOperation> taken(operation.release());
    auto accepted = submit(taken);
    operation.reset(static_cast<Operation*>(taken.release()));
    return accepted;
  }
  // One group commit of what is queued; false when there was nothing.
  bool step() EXCLUDES(mutex_);
  // Waits until everything submitted before is committed and completed.
  void drain() EXCLUDES(mutex_);

 private:
  Result<void> submit(std::unique_ptr<WriteOperation>& operation) EXCLUDES(mutex_);
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
