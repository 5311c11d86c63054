#include "steering/steering.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "outbound/limits.h"
#include "steering/limits.h"
#include "steering/overdue.h"
#include "steering/server_event.h"

namespace shepherd {
namespace {

constexpr std::size_t kRestorePage = 1'000;  // tasks read at once

std::string process_name(const SteeringParts& parts) {
  return make_sortable_id(parts.clock.wall_ms(), parts.random);
}

}  // namespace

Steering::Steering(SteeringParts parts, SteeringConfig config)
    : parts_(parts),
      config_(std::move(config)),
      service_(parts_.clock),
      rounds_(parts_.journal, service_, config_.lease_seconds * 1'000 / kLeaseRounds, parts_.journal.has_replicas()),
      leases_(parts_.journal, parts_.clock, rounds_, service_, config_.lease_seconds),
      takers_(parts_.journal, rounds_, service_, process_name(parts_)),
      roster_(parts_.journal, rounds_, service_),
      commands_(parts_.journal, parts_.workers, parts_.clock, parts_.random, parts_.redactor),
      claims_(parts_.journal, leases_, roster_, parts_.clock, parts_.metrics),
      callbacks_({parts_.journal, parts_.workers, parts_.clock, parts_.random, parts_.metrics, parts_.poster},
                 config_.callbacks),
      tokens_(parts_.journal, parts_.clock, config_.tokens),
      leases_held_(parts_.metrics.gauge("shepherd_leases", "Tasks that a runner has claimed and keeps: busy slots")),
      lease_losses_(parts_.metrics.counter("shepherd_lease_losses_total", "Leases whose runner fell silent")),
      runners_(parts_.metrics.gauge("shepherd_runners",
                                    "Runners that are present: they reported, asked for work or have a task")) {}

Steering::~Steering() {
  stop();
  tokens_.finish();        // answers the pending requests
  parts_.journal.drain();  // completions refer to this
}

Result<std::unique_ptr<Steering>> Steering::open(SteeringParts parts, SteeringConfig config) {
  std::unique_ptr<Steering> steering(new Steering(parts, std::move(config)));
  if (auto restored = steering->service_.restore(parts.journal.store()); !restored) return fail(restored.error());
  if (!parts.journal.has_replicas()) steering->drop_takers();
  if (auto restored = steering->restore(); !restored) return fail(restored.error());
  if (auto started = steering->callbacks_.start(); !started) return fail(started.error());
  FollowOptions options;
  options.name = "steering";
  options.types = steering_types();
  options.durable = true;  // a crash between a task's end and its consequences loses nothing
  options.old_cursor = "steering/cursor";
  auto follower =
      parts.journal.follow(std::move(options), parts.workers,
                           [raw = steering.get()](const News& news, auto done) { raw->take(news, std::move(done)); });
  if (!follower) return fail(follower.error());
  steering->follower_ = std::move(*follower);
  return steering;
}

// Feeds of an earlier process of this server, which alone has the store.
void Steering::drop_takers() {
  auto takers = parts_.journal.store().leases(LeaseKind::taker);
  if (!takers || takers->empty()) return;
  parts_.journal.write(
      [takers = std::move(*takers)](WriteTxn& txn) -> Result<void> {
        for (const Lease& taker : takers) {
          if (auto ended = txn.end_lease(taker.key); !ended) return ended;
        }
        return {};
      },
      [](Result<void>) {});  // otherwise they end by themselves
}

Result<void> Steering::restore() {
  if (auto read = roster_.read_all(); !read) return read;
  TaskFilter filter;
  filter.active = true;
  filter.limit = kRestorePage;
  for (;;) {
    auto tasks = parts_.journal.store().rows(filter);
    if (!tasks) return fail(tasks.error());
    for (const TaskRow& task : *tasks) note(task);
    bool last = tasks->size() < kRestorePage;
    if (!last) filter.before = tasks->back().spec.id;
    put_right(std::move(*tasks));
    if (last) return {};
  }
}

// Runs now and not at the first tick: a runner that returns before it would take a message that is long out of date.
void Steering::put_right(std::vector<TaskRow> tasks) {
  std::int64_t now_ms = parts_.clock.wall_ms();
  std::erase_if(tasks,
                [&](const TaskRow& task) { return !is_leased(task.state) && !has_expired_command(task, now_ms); });
  if (tasks.empty()) return;
  parts_.journal.write(
      [this, tasks = std::move(tasks), now_ms](WriteTxn& txn) -> Result<void> {
        for (const TaskRow& task : tasks) {
          if (auto expired = expire_commands(txn, task, now_ms); !expired) return expired;
          if (!is_leased(task.state)) continue;
          if (auto restored = leases_.restore(txn, task); !restored) return restored;
        }
        return {};
      },
      [](Result<void>) {});  // the first tick repairs a failure
  parts_.journal.drain();
}

void Steering::claim(ClaimRequest request, Claims::Answer answer, Claims::PeerGone gone) {
  auto newest = parts_.journal.store().newest_place();
  if (!newest) return answer(fail(std::move(newest.error())));
  if (follower_ == nullptr || follower_->place().covers(*newest)) {
    return claims_.claim(std::move(request), std::move(answer), std::move(gone));
  }
  follower_->after(*newest,
                   [this, request = std::move(request), answer = std::move(answer), gone = std::move(gone)]() mutable {
                     claims_.claim(std::move(request), std::move(answer), std::move(gone));
                   });
}

void Steering::forget(const std::string& task) {
  claims_.withdraw(task);
  leases_.forget(task);
  tokens_.forget(task);
  due_.set(task, kNeverMs);
}

void Steering::take(const News& news, std::move_only_function<void(bool)> done) {
  if (news.restarted) {
    // Changes were lost, but no events: tasks that ended meanwhile are in the news, now or later. What a start reads is
    // all that is needed of the others.
    if (auto restored = restore(); !restored) {
      log_warn("steering cannot read the tasks: {}", restored.error().message);
      return done(false);
    }
  }
  if (auto read = read_runners(news); !read) {
    log_warn("steering cannot read the runners: {}", read.error().message);
    return done(false);
  }
  for (const std::string& task : news.deleted) forget(task);
  for (const RowPtr& row : news.rows) note(*row);
  callbacks_.take(news, std::move(done));
}

Result<void> Steering::read_runners(const News& news) {
  std::set<std::string> runners;
  for (const Change& change : news.changes) {
    if (change.kind == ChangeKind::lease_changed && change.name == name(LeaseKind::runner)) runners.insert(change.key);
  }
  for (const std::string& runner : runners) {
    if (auto read = roster_.read(runner); !read) return read;
  }
  return {};
}

void Steering::note(const TaskRow& task) {
  const std::string& id = task.spec.id;
  if (task.state.state == State::queued) {
    claims_.offer(task);
  } else {
    claims_.withdraw(id);
  }
  leases_.note(task);
  if (is_terminal(task.state.state)) tokens_.forget(id);
  std::int64_t due_ms = next_due_ms(task, config_);
  bool unstarted = task.spec.timeout_seconds > 0 && task.state.started_ms == 0 && !is_terminal(task.state.state);
  if (unstarted) {
    // An agent's own first event starts the task, perhaps without a later event that steering reads, so check again.
    std::int64_t pause_ms = (task.spec.timeout_seconds + config_.timeout_grace_seconds) * 1'000;
    due_ms = std::min(due_ms, parts_.clock.wall_ms() + pause_ms);
  }
  due_.set(id, due_ms);
}

void Steering::tick() {
  leases_held_.set(static_cast<std::int64_t>(leases_.size()));
  claims_.tick();
  takers_.tick();
  rounds_.tick([this](const LeaseRound& round) { take(round); });
  count_runners();
  for (const std::string& task : due_.take(parts_.clock.wall_ms())) settle(task);
  callbacks_.tick();
}

void Steering::count_runners() {
  std::int64_t now_ms = parts_.clock.steady_ms();
  if (now_ms - runners_counted_ms_ < kRunnerCount.count()) return;
  runners_counted_ms_ = now_ms;
  std::set<std::string> names = roster_.names();
  names.merge(leases_.runners());
  runners_.set(static_cast<std::int64_t>(names.size()));
}

void Steering::take(const LeaseRound& round) {
  for (const LeaseKey& key : round.missing) takers_.restore(key);
  std::set<std::string> busy = leases_.runners();
  for (const Lease& lease : round.over) {
    switch (lease.key.kind) {
      case LeaseKind::task:
        leases_.lose(lease, [this] { lease_losses_.add(); });
        break;
      case LeaseKind::runner:
        roster_.over(lease, busy.contains(lease.key.name));
        break;
      case LeaseKind::taker:
        parts_.journal.write([key = lease.key](WriteTxn& txn) { return txn.end_lease(key); }, [](Result<void>) {});
        break;
    }
  }
}

void Steering::settle(const std::string& task) {
  parts_.journal.write(
      [this, task](WriteTxn& txn) -> Result<TaskRow> {
        auto settled = settle_overdue(txn, task, config_, parts_.clock.wall_ms());
        if (!settled) return fail(settled.error());
        return txn.row(task);
      },
      [this, task](Result<TaskRow> written) {
        if (written) return note(*written);
        if (written.error().code != ErrorCode::not_found) due_.set(task, parts_.clock.wall_ms() + kSettleRetryMs);
      });
}

void Steering::stop() {
  claims_.stop();
  tokens_.stop();
  if (follower_ != nullptr) follower_->stop();
  callbacks_.stop();
}

}  // namespace shepherd
