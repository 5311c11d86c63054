#include "steering/claims.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "steering/limits.h"
#include "steering/server_event.h"
#include "store/lease_fence.h"

namespace shepherd {
namespace {

std::string claim_members(const std::string& runner, std::uint64_t epoch) {
  std::string out = R"("runner":)";
  append_json_string(out, runner);
  out += R"(,"leaseEpoch":)";
  append_number(out, epoch);
  return out;
}

}  // namespace

// Returns nullopt if this task is not (or no longer) available.
Result<std::optional<Claim>> Claims::claim_in(WriteTxn& txn, const std::string& id, const ClaimRequest& request) {
  auto task = txn.row(id);
  if (!task) return fail(task.error());
  bool named = !request.task.empty();
  if (named && is_terminal(task->state.state)) {
    return fail(Error{ErrorCode::gone, "task_ended", "The task has ended; there is nothing left to do.", {}}.with(
        "currentState", std::string(name(task->state.state))));
  }
  if (named && is_leased(task->state) && task->state.runner == request.runner) {
    return Claim{id, task->state.lease_epoch, true};
  }
  if (task->state.state != State::queued) {
    if (!named) return std::nullopt;
    return fail(ErrorCode::conflict, "already_claimed", "Another runner has this task.");
  }
  if (named && !shepherd::suits(task->spec, request)) {
    return fail(ErrorCode::conflict, "not_claimable", "This task is meant for another runner or agent.");
  }
  auto epoch = txn.next_epoch();
  if (!epoch) return fail(std::move(epoch.error()));
  auto appended = txn.append(status_event(id, State::starting, "claimed by " + request.runner,
                                          claim_members(request.runner, *epoch), {}, clock_.wall_ms()));
  if (!appended) return fail(appended.error());
  if (auto granted = leases_.grant(txn, id, request.runner, *epoch); !granted) return fail(std::move(granted.error()));
  return Claim{id, *epoch};
}

bool Claims::suits(const Offer& offer, const ClaimRequest& request) {
  return shepherd::suits(offer.agent, offer.runner, offer.labels, request);
}

Claims::Claims(Journal& journal, Leases& leases, RunnerRoster& roster, const Clock& clock, MetricRegistry& metrics)
    : journal_(journal),
      leases_(leases),
      clock_(clock),
      roster_(roster),
      claimed_(metrics.counter("shepherd_claims_total", "Tasks given to runners")),
      waiting_runners_(metrics.gauge("shepherd_claims_waiting", "Claims that wait for a task: free slots")),
      waiting_tasks_(metrics.gauge("shepherd_tasks_waiting", "Tasks that wait for a runner: the queue")) {}

Claims::~Claims() {
  stop();
}

void Claims::claim(ClaimRequest request, Answer answer, PeerGone gone) {
  roster_.asks(request);
  std::int64_t until_ms = clock_.steady_ms() + request.wait_seconds * 1'000;
  std::string task = request.task;
  Asker asker{std::move(request), std::move(answer), std::move(gone), until_ms};
  if (!task.empty()) return write(std::move(task), std::nullopt, std::move(asker));
  take(std::move(asker));
}

void Claims::take(Asker asker) {
  std::optional<std::pair<Key, Offer>> found;
  bool full = false;
  {
    MutexLock lock(mutex_);
    auto offer = std::ranges::find_if(offers_, [&](const auto& each) { return suits(each.second, asker.request); });
    if (offer != offers_.end()) {
      found.emplace(offer->first, std::move(offer->second));
      created_.erase(offer->first.second);
      offers_.erase(offer);
      count();
    } else if (!stopped_ && clock_.steady_ms() < asker.until_ms) {
      full = parked_.size() >= kMaxParkedClaims;
      if (!full) {
        parked_.push_back(std::move(asker));
        count();
        return;
      }
    }
  }
  if (full) {
    return asker.answer(fail(ErrorCode::rate_limited, "too_many_claims",
                             std::to_string(kMaxParkedClaims) + " runners wait for work already. Ask again later."));
  }
  if (!found) return asker.answer(std::nullopt);
  std::string task = found->first.second;
  write(std::move(task), std::move(found), std::move(asker));
}

void Claims::write(std::string task, std::optional<std::pair<Key, Offer>> from, Asker asker) {
  auto asked = std::make_shared<const ClaimRequest>(asker.request);
  journal_.write(
      [this, task, asked](WriteTxn& txn) { return claim_in(txn, task, *asked); },
      [this, task, from = std::move(from), asker = std::move(asker)](Result<std::optional<Claim>> written) mutable {
        if (written && *written) {
          claimed_.add();
          withdraw(task);
          Claim claim = **written;
          bool unheard = asker.gone();
          asker.answer(std::move(written));
          if (claim.again) return leases_.touch(task, claim.epoch);
          if (unheard) give_back(claim, asker.request.runner);
          return;
        }
        if (!from) return asker.answer(fail(written.error()));  // a named task has no substitute
        bool gone = written.has_value() || written.error().code == ErrorCode::not_found;
        if (gone) return take(std::move(asker));
        put_back(std::move(from->first), std::move(from->second));
        asker.answer(fail(written.error()));
      });
}

void Claims::give_back(const Claim& claim, const std::string& runner) {
  journal_.write(
      [this, claim, runner](WriteTxn& txn) -> Result<void> {
        auto task = txn.row(claim.task);
        if (!task) return fail(task.error());
        if (task->state.state != State::starting || task->state.lease_epoch != claim.epoch) return {};
        if (auto ended = end_task_leases(txn, claim.task); !ended) return ended;
        auto queued = txn.append(status_event(claim.task, State::queued, runner + " asked for it and has gone", {},
                                              "given-back:" + std::to_string(claim.epoch), clock_.wall_ms()));
        if (!queued) return fail(queued.error());
        return {};
      },
      [](Result<void>) {});
}

void Claims::put_back(Key key, Offer offer) {
  MutexLock lock(mutex_);
  if (!created_.contains(key.second)) put(std::move(key), std::move(offer));
  count();
}

// The task may have replaced a deleted one with the same id.
void Claims::put(Key key, Offer offer) {
  auto [known, fresh] = created_.try_emplace(key.second, key.first);
  if (!fresh) offers_.erase({std::exchange(known->second, key.first), key.second});
  offers_.insert_or_assign(std::move(key), std::move(offer));
}

void Claims::count() {
  SHEPHERD_ASSERT(offers_.size() == created_.size(), "each offer is found by its task");
  waiting_runners_.set(static_cast<std::int64_t>(parked_.size()));
  waiting_tasks_.set(static_cast<std::int64_t>(offers_.size()));
}

void Claims::offer(const TaskRow& task) {
  if (task.spec.agent.empty()) return;  // its events are posted by a client; no runner is needed
  Key key{task.created_ms, task.spec.id};
  Offer offer{task.spec.agent, task.spec.runner, task.spec.labels};
  std::optional<Asker> waiting;
  std::deque<Asker> gone;
  {
    MutexLock lock(mutex_);
    gone = take_parked(&Asker::gone);
    auto found = std::ranges::find_if(parked_, [&](const Asker& each) { return suits(offer, each.request); });
    if (found == parked_.end()) {
      put(key, offer);
    } else {
      waiting.emplace(std::move(*found));
      parked_.erase(found);
    }
    count();
  }
  for (Asker& each : gone) each.answer(std::nullopt);
  if (!waiting) return;
  std::string id = key.second;
  write(std::move(id), std::pair(std::move(key), std::move(offer)), *std::move(waiting));
}

// Keeps the order of both the taken and the remaining ones.
std::deque<Claims::Asker> Claims::take_parked(const std::function<bool(const Asker&)>& which) {
  std::deque<Asker> taken, left;
  for (Asker& each : parked_) (which(each) ? taken : left).push_back(std::move(each));
  parked_ = std::move(left);
  return taken;
}

void Claims::withdraw(const std::string& task) {
  MutexLock lock(mutex_);
  auto created = created_.find(task);
  if (created == created_.end()) return;
  offers_.erase({created->second, task});
  created_.erase(created);
  count();
}

void Claims::tick() {
  std::deque<Asker> over;
  {
    std::int64_t now_ms = clock_.steady_ms();
    MutexLock lock(mutex_);
    over = take_parked([&](const Asker& each) { return each.until_ms <= now_ms || each.gone(); });
    count();
  }
  for (Asker& each : over) each.answer(std::nullopt);
}

void Claims::stop() {
  std::deque<Asker> over;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    over.swap(parked_);
    count();
  }
  for (Asker& each : over) each.answer(std::nullopt);
}

}  // namespace shepherd
