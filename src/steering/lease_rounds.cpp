#include "steering/lease_rounds.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "steering/limits.h"

namespace shepherd {

void LeaseRounds::renew(const LeaseKey& key, std::uint64_t epoch, std::int64_t period_ms) {
  std::int64_t now_ms = clock_.now_ms();
  MutexLock lock(mutex_);
  renewals_[key] = {epoch, now_ms, period_ms};
  std::int64_t& end_ms = ends_[key];
  end_ms = std::max(end_ms, now_ms + period_ms);
}

void LeaseRounds::watch(const LeaseKey& key, std::int64_t until_ms) {
  MutexLock lock(mutex_);
  std::int64_t& end_ms = ends_[key];
  end_ms = std::max(end_ms, until_ms);
}

void LeaseRounds::forget(const LeaseKey& key) {
  MutexLock lock(mutex_);
  ends_.erase(key);
  renewals_.erase(key);
}

bool LeaseRounds::is_due(std::int64_t now_ms) const {
  if (std::ranges::any_of(ends_, [&](const auto& each) { return each.second <= now_ms; })) return true;
  return now_ms >= next_ms_ && (!renewals_.empty() || (replicas_ && !ends_.empty()));
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
    renewals.swap(renewals_);
    // A lease that another process renewed is not over: this process looks again later.
    for (auto& [key, end_ms] : ends_) {
      if (end_ms <= now_ms) end_ms = now_ms + round_ms_;
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
      for (const LeaseKey& key : round->missing) {
        if (!renewals_.contains(key)) ends_.erase(key);
      }
    }
  }
  if (!round) return log_warn("leases cannot be renewed: {}", round.error().message);
  done(std::move(*round));
}

}  // namespace shepherd
