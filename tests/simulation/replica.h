// A server process in the simulated world: hub, journal, tokens, steering with callbacks, and the inbox, over the store
// that all replicas share. Its executors run what the simulation lets them run.
// Threads: caller.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access/access.h"
#include "base/clock.h"
#include "base/manual_executor.h"
#include "base/metrics.h"
#include "base/random.h"
#include "bus/bus.h"
#include "follow/inbox.h"
#include "hub/hub.h"
#include "journal/journal.h"
#include "sim_receiver.h"
#include "steering/steering.h"

namespace shepherd::simulation {

class SimBus;
using Wire = std::deque<std::pair<SimBus*, Hint>>;

// Delivers hints to the other replicas unreliably.
class SimBus final : public Bus {
 public:
  SimBus(Random& random, Wire& wire, bool connects) : random_(random), wire_(wire), connects_(connects) {}
  void publish(const Hint& hint) override;
  Subscription subscribe(std::function<void(const Hint&)> handler) override {
    handler_ = std::move(handler);
    return Subscription([this] { handler_ = nullptr; });
  }
  bool connects_replicas() const override { return connects_; }
  void deliver(const Hint& hint) {
    if (handler_) handler_(hint);
  }
  std::vector<SimBus*> peers;

 private:
  Random& random_;
  Wire& wire_;
  const bool connects_;
  std::function<void(const Hint&)> handler_;
};

struct ReplicaParts {
  EventStore& store;
  Random& random;
  const Clock& clock;
  Wire& wire;
  SimReceiver& receiver;
  bool alone = true;  // the only replica
};

struct Replica {
  explicit Replica(const ReplicaParts& parts);
  ~Replica() { close(); }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Starts what does not run; true if all of it does. A store that fails makes it fail.
  bool open();
  // As a server that stops: what is under way ends first.
  void close();
  bool is_open() const { return steering != nullptr && access != nullptr && inbox != nullptr; }
  void tick();
  // Runs all that can run now.
  bool run_all();

  // What the routes do before a post under a lease.
  LeaseFence fence(const std::string& task, std::uint64_t epoch);
  // What the route for renewing does.
  Result<void> renew(const std::string& task, std::uint64_t epoch, const std::string& runner);

  MetricRegistry metrics;
  ManualExecutor io;       // runs in order
  ManualExecutor workers;  // runs in any order
  SimBus bus;
  Hub hub;
  Journal journal;
  std::unique_ptr<CallbackPoster> poster;
  std::unique_ptr<Access> access;
  std::unique_ptr<Steering> steering;
  std::unique_ptr<Inbox> inbox;

 private:
  const ReplicaParts parts_;
};

}  // namespace shepherd::simulation
