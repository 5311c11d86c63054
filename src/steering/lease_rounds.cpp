#include "steering/lease_rounds.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "steering/limits.h"

namespace shepherd {

void LeaseRounds::renew(const LeaseKey& key, std::uint64_t epoch, std::int64_t period_ms) {
  constexpr std::int64_t kShare = 3;
  std::int64_t now_ms = clock_.now_ms();
  MutexLock lock(mutex_);
  Known& lease = known_[key];
  lease.end_ms = std::max(lease.end_ms, now_ms + period_ms);
  bool written = lease.written_ms != 0 && lease.epoch == epoch;
  renewals_[key] = {epoch, now_ms, period_ms, written ? lease.written_ms + period_ms / kShare : now_ms};
}

void LeaseRounds::watch(const LeaseKey& key, std::int64_t until_ms) {
  MutexLock lock(mutex_);
  std::int64_t& end_ms = known_[key].end_ms;
  end_ms = std::max(end_ms, until_ms);
}

void LeaseRounds::forget(const LeaseKey& key) {
  MutexLock lock(mutex_);
  known_.erase(key);
  renewals_.erase(key);
}

bool LeaseRounds::is_due(std::int64_t now_ms) const {
  if (std::ranges::any_of(known_, [&](const auto& each) { return each.second.end_ms <= now_ms; })) return true;
  if (now_ms < next_ms_) return false;
  return (replicas_ && !known_.empty()) ||
         std::ranges::any_of(renewals_, [&](const auto& each) { return each.second.due_ms <= now_ms; });
}

LeaseRounds::Renewals LeaseRounds::take_due(std::int64_t now_ms) {
  Renewals due;
  for (auto each = renewals_.begin(); each != renewals_.end();) {
    auto next = std::next(each);
    if (each->second.due_ms <= now_ms) due.insert(renewals_.extract(each));
    each = next;
  }
  return due;
}

void LeaseRounds::tick(std::function<void(LeaseRound)> done) {
  clock_.count();
  std::int64_t now_ms = clock_.now_ms();
  Renewals renewals;
  {
    MutexLock lock(mutex_);
    if (writing_ || !is_due(now_ms)) return;
    writing_ = true;
    next_ms_ = now_ms + round_ms_;
    renewals = take_due(now_ms);
    // A lease that another process renewed is not over: this process looks again later.
    for (auto& [key, lease] : known_) {
      if (lease.end_ms <= now_ms) lease.end_ms = now_ms + round_ms_;
    }
  }
  journal_.write(
      [this, renewals, here_ms = now_ms](WriteTxn& txn) -> Result<LeaseRound> {
        auto now = clock_.now_in(txn);
        if (!now) return fail(std::move(now.error()));
        LeaseRound round;
        for (const auto& [key, heard] : renewals) {
          // This process's own time may be behind the installation's.
          std::int64_t ago_ms = std::max<std::int64_t>(here_ms - heard.at_ms, 0);
          auto renewed = txn.renew_lease({key, heard.epoch, *now - ago_ms + heard.period_ms, true});
          if (!renewed) return fail(std::move(renewed.error()));
          if (!*renewed) round.missing.push_back(key);
        }
        auto over = txn.leases_over(*now, kMostLeasesOver);
        if (!over) return fail(std::move(over.error()));
        round.over = std::move(*over);
        return round;
      },
      [this, renewals, done = std::move(done)](Result<LeaseRound> round) mutable {
        finish(std::move(renewals), std::move(round), done);
      });
}

void LeaseRounds::finish(Renewals renewals, Result<LeaseRound> round, const std::function<void(LeaseRound)>& done) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
    if (!round) {
      renewals_.merge(renewals);  // newer ones stay
    } else {
      for (const auto& [key, heard] : renewals) {
        auto lease = known_.find(key);
        if (lease == known_.end()) continue;
        lease->second.epoch = heard.epoch;
        lease->second.written_ms = heard.at_ms;
      }
      for (const LeaseKey& key : round->missing) {
        if (!renewals_.contains(key)) known_.erase(key);
      }
    }
  }
  if (!round) return log_warn("leases cannot be renewed: {}", round.error().message);
  done(std::move(*round));
}

}  // namespace shepherd
