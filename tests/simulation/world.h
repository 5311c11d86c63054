// A simulated world in one thread: replicas (hub, journal, feeds) over one store and a bus that loses, repeats and
// reorders hints; producers that retry; consumers that read at any time, disconnect and reconnect; tasks and records
// that come, change and go, and followers on every replica. A seed determines every choice, so a failure can be
// repeated. Threads: caller.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/manual_executor.h"
#include "base/metrics.h"
#include "base/random.h"
#include "faulty_store.h"
#include "journal/journal.h"
#include "sim_follower.h"
#include "store/memory/memory_store.h"

namespace shepherd::simulation {

// Delivers hints to the other replicas unreliably.
class SimBus final : public Bus {
 public:
  SimBus(Random& random, std::deque<std::pair<SimBus*, Hint>>& wire) : random_(random), wire_(wire) {}
  void publish(const Hint& hint) override;
  void subscribe(std::function<void(const Hint&)> handler) override { handler_ = std::move(handler); }
  bool connects_replicas() const override { return true; }
  void deliver(const Hint& hint) { handler_(hint); }
  std::vector<SimBus*> peers;

 private:
  Random& random_;
  std::deque<std::pair<SimBus*, Hint>>& wire_;
  std::function<void(const Hint&)> handler_;
};

struct Replica {
  Replica(EventStore& store, Random& random, const Clock& clock, std::deque<std::pair<SimBus*, Hint>>& wire);

  MetricRegistry metrics;
  ManualExecutor io;       // runs in order
  ManualExecutor workers;  // runs in any order
  SimBus bus;
  Hub hub;
  Journal journal;
};

// A producer that numbers its events. A strict one posts each until it is acknowledged.
struct SimProducer {
  std::string id;
  std::string task;
  bool strict = true;
  std::size_t home = 0;    // loose producers stay with one replica
  std::uint64_t next = 1;  // strict: the number to post; loose: the next unused number
  std::uint64_t total = 0;
  bool in_flight = false;
  std::vector<std::uint64_t> shuffled;  // loose: a window of numbers still to post
  std::set<std::uint64_t> acknowledged;
  bool finished() const { return next > total && shuffled.empty(); }
};

class SimConsumer final : public FeedConsumer {
 public:
  SimConsumer(std::string name, FeedOptions options, std::uint64_t start)
      : name_(std::move(name)), options_(std::move(options)), start_(start), cursor_(start) {}

  void connect(Replica& replica);
  void hang_up() { feed_.reset(); }
  bool connected() const { return feed_ != nullptr; }
  bool idle() const { return connected() && ready_; }
  void next();
  void tick(std::int64_t now_ms) {
    if (feed_) feed_->tick(now_ms);
  }

  void on_frames(FrameBatch&& batch) override;
  void on_feed_error(const Error& error) override { broken_ = !error.message.empty(); }
  bool broken() const { return broken_; }
  bool ended() const { return ended_; }

  // Checks that this consumer received every event of the store that it wanted, once and in order.
  void check_complete(const EventStore& store) const;

 private:
  void frame(std::string_view line);

  std::string name_;
  FeedOptions options_;
  std::uint64_t start_;
  std::uint64_t cursor_;
  std::vector<std::uint64_t> received_;
  std::unique_ptr<Feed> feed_;
  bool ready_ = false;  // may call next
  bool broken_ = false;
  bool ended_ = false;
};

class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();
  void run();

 private:
  void add_producers();
  void add_consumers();
  void act();
  void produce(SimProducer& producer);
  void produce_loose(SimProducer& producer);
  void post(SimProducer& producer, std::uint64_t number, Replica& replica);
  void drop_old_events();
  void change_something(Replica& replica);
  void settle();
  void check();
  void check_producer(const SimProducer& producer);
  std::vector<std::string> log_of(const std::string& task) const;

  std::uint64_t seed_;
  SeededRandom random_;
  unsigned faults_percent_;
  ManualClock clock_;
  MemoryStore memory_;
  FaultyStore store_;
  std::deque<std::pair<SimBus*, Hint>> wire_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<SimProducer> producers_;
  std::vector<std::unique_ptr<SimConsumer>> consumers_;
  std::vector<std::unique_ptr<SimFollower>> followers_;  // one for each replica
  std::vector<std::string> tasks_;
};

}  // namespace shepherd::simulation
