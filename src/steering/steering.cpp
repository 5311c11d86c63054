#include "steering/steering.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "outbound/limits.h"
#include "steering/limits.h"
#include "steering/overdue.h"
#include "steering/server_event.h"

namespace shepherd {
namespace {

constexpr std::size_t kRestorePage = 1'000;     // tasks read at once
constexpr std::int64_t kSettleRetryMs = 1'000;  // after a write failed

constexpr const char* kTokenRecords = "lease_token";

// The claiming runner never reported, so another runner may get the task, a limited number of times. A task that only
// that runner may run would wait forever, so it does not go back.
bool goes_to_another(const TaskRow& task, const LostLease& lost) {
  return !lost.heard && task.state.state == State::starting && task.state.claims < kMaxSilentClaims &&
         task.spec.runner.empty();
}

}  // namespace

Steering::Steering(SteeringParts parts, SteeringConfig config)
    : parts_(std::move(parts)),
      config_(std::move(config)),
      leases_(parts_.clock, config_.lease_seconds),
      commands_(parts_.journal, parts_.workers, {feeds_}, parts_.clock, parts_.random, parts_.redactor),
      claims_(parts_.journal, leases_, parts_.clock, parts_.metrics),
      callbacks_({parts_.journal, parts_.workers, parts_.clock, parts_.random, parts_.metrics, parts_.poster},
                 config_.callbacks),
      token_provider_(make_repo_token_provider(config_.tokens, parts_.clock)),
      leases_held_(parts_.metrics.gauge("shepherd_leases", "Tasks that a runner has claimed and keeps: busy slots")),
      lease_losses_(parts_.metrics.counter("shepherd_lease_losses_total", "Leases whose runner fell silent")),
      runners_(parts_.metrics.gauge("shepherd_runners", "Runners that have a task or wait for one")) {
  if (token_provider_ != nullptr) token_workers_ = std::make_unique<ThreadPool>("token", kTokenThreads);
}

Steering::~Steering() {
  stop();
  token_workers_.reset();  // answers the pending requests
  parts_.journal.drain();  // completions refer to this
}

Result<std::unique_ptr<Steering>> Steering::open(SteeringParts parts, SteeringConfig config) {
  std::unique_ptr<Steering> steering(new Steering(parts, std::move(config)));
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

Result<void> Steering::restore() {
  auto tokens = parts_.journal.store().records(kTokenRecords);
  if (!tokens) return fail(tokens.error());
  TaskFilter filter;
  filter.active = true;
  filter.limit = kRestorePage;
  for (;;) {
    auto tasks = parts_.journal.store().rows(filter);
    if (!tasks) return fail(tasks.error());
    for (const TaskRow& task : *tasks) {
      const std::string& id = task.spec.id;
      std::uint64_t epoch = task.state.lease_epoch;
      bool queued = task.state.state == State::queued;
      if (epoch != 0 && !queued) leases_.grant(id, task.state.runner, epoch);
      auto given = tokens->find(id);
      leases_.set_token_taken(id, epoch, given != tokens->end() && given->second == std::to_string(epoch));
      note(task);
    }
    bool last = tasks->size() < kRestorePage;
    if (!last) filter.before = tasks->back().spec.id;
    expire_commands_of(std::move(*tasks));
    if (last) return {};
  }
}

// Runs now and not at the first tick: a runner that returns before it would take a message that is long out of date.
void Steering::expire_commands_of(std::vector<TaskRow> tasks) {
  std::int64_t now_ms = parts_.clock.wall_ms();
  std::erase_if(tasks, [&](const TaskRow& task) { return !has_expired_command(task, now_ms); });
  if (tasks.empty()) return;
  parts_.journal.write(
      [tasks = std::move(tasks), now_ms](WriteTxn& txn) -> Result<void> {
        for (const TaskRow& task : tasks) {
          if (auto expired = expire_commands(txn, task, now_ms); !expired) return expired;
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
  if (leases_.end(task)) forget_token(task);
  due_.set(task, kNeverMs);
}

void Steering::take(const News& news, std::move_only_function<void(bool)> done) {
  if (news.restarted) {
    // The stream was lost; what a start reads is all that is needed.
    if (auto restored = restore(); !restored) {
      log_warn("steering cannot read the tasks: {}", restored.error().message);
      return done(false);
    }
  }
  for (const std::string& task : news.deleted) forget(task);
  for (const RowPtr& row : news.rows) note(*row);
  callbacks_.take(news, std::move(done));
}

void Steering::note(const TaskRow& task) {
  const std::string& id = task.spec.id;
  if (task.state.state == State::queued) {
    claims_.offer(task);
  } else {
    claims_.withdraw(id);
  }
  if (is_terminal(task.state.state) && leases_.end(id)) forget_token(id);
  std::int64_t due_ms = next_due_ms(task, config_);
  bool unstarted = task.spec.timeout_seconds > 0 && task.state.started_ms == 0 && !is_terminal(task.state.state);
  if (unstarted) {
    // An agent's own first event starts the task, perhaps without a later event that steering reads, so check again.
    std::int64_t pause_ms = (task.spec.timeout_seconds + config_.timeout_grace_seconds) * 1'000;
    due_ms = std::min(due_ms, parts_.clock.wall_ms() + pause_ms);
  }
  due_.set(id, due_ms);
}

void Steering::forget_token(const std::string& task) {
  parts_.journal.write([task](WriteTxn& txn) { return txn.put_record(kTokenRecords, task, ""); }, [](Result<void>) {});
}

void Steering::tick() {
  leases_held_.set(static_cast<std::int64_t>(leases_.size()));
  claims_.tick();
  for (const LostLease& lost : leases_.take_lost()) {
    lease_losses_.add();
    lose(lost);
  }
  count_runners();
  for (const std::string& task : due_.take(parts_.clock.wall_ms())) settle(task);
  callbacks_.tick();
}

void Steering::count_runners() {
  std::int64_t now_ms = parts_.clock.steady_ms();
  if (now_ms - runners_counted_ms_ < kRunnerCount.count()) return;
  runners_counted_ms_ = now_ms;
  std::set<std::string> names = leases_.runners();
  claims_.add_runners(names);
  runners_.set(static_cast<std::int64_t>(names.size()));
}

void Steering::settle(const std::string& task) {
  parts_.journal.write(
      [this, task](WriteTxn& txn) -> Result<TaskRow> {
        auto settled = settle_overdue(txn, task, {feeds_}, config_, parts_.clock.wall_ms());
        if (!settled) return fail(settled.error());
        return txn.row(task);
      },
      [this, task](Result<TaskRow> written) {
        if (written) return note(*written);
        if (written.error().code != ErrorCode::not_found) due_.set(task, parts_.clock.wall_ms() + kSettleRetryMs);
      });
}

void Steering::lose(const LostLease& lost) {
  // The next period tries again; the runner may return until then.
  auto restore = [this, lost] { leases_.restore(lost); };
  parts_.journal.write(
      [this, lost](WriteTxn& txn) -> Result<bool> {
        auto task = txn.row(lost.task);
        if (!task) return fail(task.error());
        if (is_terminal(task->state.state) || task->state.lease_epoch != lost.epoch) return false;
        if (goes_to_another(*task, lost)) return true;
        auto ended = txn.append(status_event(lost.task, State::failed, "runner lost", {},
                                             "lost:" + std::to_string(lost.epoch), parts_.clock.wall_ms()));
        if (!ended) return fail(ended.error());
        return false;
      },
      [this, lost, restore](Result<bool> again) {
        if (again && *again) {
          return claims_.give_back({lost.task, lost.epoch}, lost.runner + " took it and was not heard of again",
                                   restore);
        }
        if (!again && again.error().code != ErrorCode::not_found) restore();
      });
}

void Steering::repo_token(const TaskRow& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done) {
  if (is_terminal(task.state.state)) {
    return done(fail(Error{ErrorCode::gone, "task_ended", "The task has ended; it needs no token any more.", {}}.with(
        "currentState", std::string(name(task.state.state)))));
  }
  if (token_provider_ == nullptr) {
    return done(fail(ErrorCode::unavailable, "no_token_provider",
                     "This server gives out no repository tokens: none of runners.token_command, "
                     "runners.github_app.id and runners.token_file is set."));
  }
  auto taken = leases_.take_token(task.spec.id, task.state.lease_epoch != 0, epoch);
  if (!taken) return done(fail(taken.error()));
  token_workers_->post([this, spec = task.spec, epoch = *taken, done = std::move(done)]() mutable {
    give_token(spec, epoch, std::move(done));
  });
}

void Steering::give_token(const TaskInfo& task, std::uint64_t epoch, Done<RepoToken> done) {
  auto token = token_provider_->token(task);
  if (!token) {
    leases_.set_token_taken(task.id, epoch, false);
    return done(fail(token.error()));
  }
  if (token->expires_ms == 0) token->expires_ms = parts_.clock.wall_ms() + kTokenUntoldLife.count();
  // Recorded before it is given, so that a restart does not give another one.
  parts_.journal.write(
      [id = task.id, epoch](WriteTxn& txn) { return txn.put_record(kTokenRecords, id, std::to_string(epoch)); },
      [this, id = task.id, epoch, token = std::move(*token), done = std::move(done)](Result<void> written) mutable {
        if (written) return done(std::move(token));
        leases_.set_token_taken(id, epoch, false);
        done(fail(written.error()));
      });
}

void Steering::stop() {
  claims_.stop();
  if (token_provider_ != nullptr) token_provider_->cancel();
  if (follower_ != nullptr) follower_->stop();
  callbacks_.stop();
}

}  // namespace shepherd
