#include "steering/service_clock.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "steering/limits.h"

namespace shepherd {
namespace {

constexpr const char* kServiceClock = "service_clock";

std::int64_t stored_ms(const std::string& record) {
  std::int64_t ms = 0;
  std::from_chars(record.data(), record.data() + record.size(), ms);
  return ms;
}

}  // namespace

std::int64_t ServiceClock::passed() const {
  return service_ms_ + std::clamp<std::int64_t>(clock_.steady_ms() - counted_ms_, 0, kMostLeaseStep.count());
}

void ServiceClock::advance_to(std::int64_t ms) {
  service_ms_ = ms;
  counted_ms_ = clock_.steady_ms();
}

Result<void> ServiceClock::restore(const EventStore& store) {
  auto record = store.record(kCursors, kServiceClock);
  if (!record) return fail(std::move(record.error()));
  MutexLock lock(mutex_);
  advance_to(std::max(passed(), stored_ms(*record)));
  return {};
}

std::int64_t ServiceClock::now_ms() const {
  MutexLock lock(mutex_);
  return passed();
}

void ServiceClock::count() {
  MutexLock lock(mutex_);
  advance_to(passed());
}

Result<std::int64_t> ServiceClock::now_in(WriteTxn& txn) {
  auto record = txn.record(kCursors, kServiceClock);
  if (!record) return fail(std::move(record.error()));
  std::int64_t now_ms = 0;
  {
    MutexLock lock(mutex_);
    // To repeat this is harmless: time has passed, whether or not the transaction succeeds.
    advance_to(std::max(passed(), stored_ms(*record)));
    now_ms = service_ms_;
  }
  if (auto kept = txn.keep_cursor(kServiceClock, std::to_string(now_ms)); !kept) return fail(std::move(kept.error()));
  return now_ms;
}

}  // namespace shepherd
