// A simulated world in one thread: replicas over one store that fails and a bus that loses, repeats and reorders hints;
// producers that retry; consumers that read at any time, disconnect and reconnect; tasks and records that come, change
// and go, and followers on every replica; runners, operators, tokens and a receiver of callbacks. A seed determines
// every choice, so a failure can be repeated. Threads: caller.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "faulty_store.h"
#include "replica.h"
#include "sim_consumer.h"
#include "sim_follower.h"
#include "sim_keys.h"
#include "sim_operator.h"
#include "sim_receiver.h"
#include "sim_runner.h"
#include "store/memory/memory_store.h"

namespace shepherd::simulation {

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
  void drop_old_events(Replica& replica);
  void change_something(Replica& replica);
  void restart();
  bool jobs_have_ended() const;
  bool callbacks_have_settled() const;
  bool settle_clients(bool ended);
  void settle();
  void lose_last_hint();
  void check();
  void check_claims(Replica& replica);
  void check_producer(const SimProducer& producer);
  std::vector<std::string> log_of(const std::string& task) const;

  SeededRandom random_;
  unsigned faults_percent_;
  ManualClock clock_;
  MemoryStore memory_;
  FaultyStore store_;
  SimReceiver receiver_;
  SimOperator people_;
  SimKeys keys_;
  ClaimWatch claims_;
  bool restarted_ = false;
  std::vector<std::unique_ptr<SimRunner>> runners_;
  Wire wire_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<SimProducer> producers_;
  std::vector<std::unique_ptr<SimConsumer>> consumers_;
  std::vector<std::unique_ptr<SimFollower>> followers_;  // one for each replica
  std::vector<std::string> tasks_;
};

}  // namespace shepherd::simulation
