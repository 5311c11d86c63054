#include "net/body_budget.h"

namespace shepherd::net {

BodyBudget::Outcome BodyBudget::take(const std::string& caller, std::size_t bytes) {
  MutexLock lock(mutex_);
  if (taken_ + bytes > in_all_) return Outcome::all_full;
  auto known = callers_.find(caller);
  std::size_t has = known == callers_.end() ? 0 : known->second;
  if (has + bytes > per_caller_) return Outcome::caller_full;
  callers_[caller] = has + bytes;
  taken_ += bytes;
  return Outcome::taken;
}

void BodyBudget::give_back(const std::string& caller, std::size_t bytes) {
  MutexLock lock(mutex_);
  taken_ -= bytes;
  auto known = callers_.find(caller);
  known->second -= bytes;
  if (known->second == 0) callers_.erase(known);
}

std::size_t BodyBudget::taken() const {
  MutexLock lock(mutex_);
  return taken_;
}

BodyBudget::Outcome BodyShare::grow_to(std::size_t bytes, const std::string& caller) {
  if (bytes <= bytes_) return BodyBudget::Outcome::taken;
  if (bytes_ == 0) caller_ = caller;
  BodyBudget::Outcome outcome = budget_->take(caller_, bytes - bytes_);
  if (outcome == BodyBudget::Outcome::taken) bytes_ = bytes;
  return outcome;
}

void BodyShare::give_back() {
  if (bytes_ == 0) return;
  budget_->give_back(caller_, bytes_);
  bytes_ = 0;
}

}  // namespace shepherd::net
