// How many bytes of unfinished requests a server holds: of one caller, and of all together. A body is counted as it
// arrives, once it has not come with its head, until its request is answered; so a caller that opens many connections
// and finishes no request gets no more than its share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace shepherd::net {

// Threads: any.
class BodyBudget {
 public:
  enum class Outcome { taken, caller_full, all_full };

  BodyBudget(std::size_t per_caller, std::size_t in_all) : per_caller_(per_caller), in_all_(in_all) {}

  Outcome take(const std::string& caller, std::size_t bytes) EXCLUDES(mutex_);
  void give_back(const std::string& caller, std::size_t bytes) EXCLUDES(mutex_);
  std::size_t taken() const EXCLUDES(mutex_);

 private:
  const std::size_t per_caller_, in_all_;
  mutable Mutex mutex_;
  std::size_t taken_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::size_t> callers_ GUARDED_BY(mutex_);
};

// What one request has taken; it is given back when it goes. A request that is not answered yet may outlive its
// server, so the share owns the budget, too.
// Threads: caller.
class BodyShare {
 public:
  explicit BodyShare(std::shared_ptr<BodyBudget> budget) : budget_(std::move(budget)) {}
  ~BodyShare() { give_back(); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  // From now on `bytes` in all; `caller` stays who it was at first.
  BodyBudget::Outcome grow_to(std::size_t bytes, const std::string& caller);
  void give_back();

 private:
  std::shared_ptr<BodyBudget> budget_;
  std::string caller_;
  std::size_t bytes_ = 0;
};

}  // namespace shepherd::net
