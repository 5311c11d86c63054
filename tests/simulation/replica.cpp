#include "replica.h"

namespace shepherd::simulation {
namespace {

constexpr std::int64_t kLease = 4;  // seconds, so that silent runners lose their tasks within a run
constexpr std::int64_t kGrace = 2;  // seconds after a task's timeout

}  // namespace

void SimBus::publish(const Hint& hint) {
  for (SimBus* peer : peers) {
    auto luck = random_.below(10);
    if (luck < 3) continue;  // lost
    wire_.emplace_back(peer, hint);
    if (luck == 9) wire_.emplace_back(peer, hint);  // repeated
    if (luck >= 7 && wire_.size() > 1) std::swap(wire_.back(), wire_[random_.below(wire_.size())]);
  }
}

Replica::Replica(const ReplicaParts& parts)
    : bus(parts.random, parts.wire, !parts.alone),
      hub(parts.clock, metrics),
      journal(parts.store, hub, bus, workers, parts.clock, metrics, false),
      poster(parts.receiver.make_poster()),
      parts_(parts) {}

bool Replica::open() {
  if (!access) {
    auto opened = Access::open(journal, parts_.clock, parts_.random);
    if (opened && (*opened)->follow(workers)) access = *std::move(opened);
  }
  if (!steering) {
    SteeringConfig config;
    config.lease_seconds = kLease;
    config.timeout_grace_seconds = kGrace;
    config.callbacks.secret = "secret";
    config.callbacks.sole_process = parts_.alone;
    auto opened = Steering::open({journal, workers, parts_.clock, parts_.random, metrics, nullptr, poster.get()},
                                 std::move(config));
    if (opened) steering = *std::move(opened);
  }
  if (!inbox) {
    auto opened = Inbox::open(journal, workers, parts_.clock);
    if (opened) inbox = *std::move(opened);
  }
  return is_open();
}

void Replica::close() {
  run_all();
  if (steering) steering->stop();
  run_all();
  if (inbox) inbox->stop();
  if (access) access->stop_following();
  run_all();
  steering.reset();
  inbox.reset();
  access.reset();
  run_all();
}

void Replica::tick() {
  journal.tick();
  if (steering) steering->tick();
  if (inbox) inbox->tick();
}

bool Replica::run_all() {
  bool busy = false;
  while (journal.step() || workers.run_one() || io.run_one()) busy = true;
  return busy;
}

LeaseFence Replica::fence(const std::string& task, std::uint64_t epoch) {
  steering->leases().touch(task, epoch);
  return {epoch};
}

Result<void> Replica::renew(const std::string& task, std::uint64_t epoch, const std::string& runner) {
  auto row = journal.store().row(task);
  if (!row) return fail(row.error().code == ErrorCode::not_found ? lease_lost() : row.error());
  return steering->leases().renew(*row, epoch, runner);
}

}  // namespace shepherd::simulation
