// A write: one unit of work of a transaction with its answer. The work is atomic by itself: if it fails, nothing of it
// stays, and the rest of the transaction is not affected. It may run more than once (a store may have to repeat a
// transaction), so it changes nothing outside the transaction and returns its result.
// Threads: caller (the writer's thread).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

// Completions run on the writer's thread and must not block; a net::Responder may be used there.
template <class T>
using Done = std::move_only_function<void(Result<T>)>;

// run() works inside the transaction; then exactly one of committed() or failed() is called outside.
// An interface: there is one implementation for each type of answer.
class WriteOperation {
 public:
  virtual ~WriteOperation() = default;
  virtual void run(WriteTxn& txn) = 0;
  virtual void committed() = 0;
  virtual void failed(const Error& error) = 0;
  virtual std::size_t bytes() const = 0;  // rough cost in the queue
};

// `single` work makes one call that changes the transaction, which is atomic already.
enum class Atomicity : bool { single, compound };

template <class T>
class Operation final : public WriteOperation {
 public:
  using Work = std::move_only_function<Result<T>(WriteTxn&)>;

  Operation(Atomicity atomicity, std::size_t bytes, Work work, Done<T> done)
      : atomicity_(atomicity), bytes_(bytes), work_(std::move(work)), done_(std::move(done)) {}

  void run(WriteTxn& txn) override {
    if (atomicity_ == Atomicity::single) {
      result_ = work_(txn);
      return;
    }
    result_.reset();
    auto kept = txn.atomically([this](WriteTxn& part) -> Result<void> {
      result_ = work_(part);
      if (!*result_) return fail(result_->error());
      return {};
    });
    if (!kept && (!result_ || *result_)) result_ = fail(kept.error());
  }
  void committed() override {
    SHEPHERD_ASSERT(result_.has_value(), "what was committed has run");
    done_(std::move(*result_));
  }
  // A refusal inside the transaction stands; a success becomes a failure, because nothing was stored.
  void failed(const Error& error) override {
    bool refused = result_ && !*result_;
    done_(refused ? std::move(*result_) : Result<T>(fail(error)));
  }
  std::size_t bytes() const override { return bytes_; }
  Done<T>& done() { return done_; }

 private:
  const Atomicity atomicity_;
  const std::size_t bytes_;
  Work work_;
  Done<T> done_;
  std::optional<Result<T>> result_;  // empty if it did not run
};

}  // namespace shepherd
