#include "world.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "job_checks.h"
#include "model/wire_json.h"
#include "outbound/callback_store.h"

namespace shepherd::simulation {
namespace {

constexpr std::size_t kRunners = 3;
constexpr int kActs = 2'200;

std::vector<std::string> names(const std::string& prefix, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(prefix + std::to_string(i));
  return all;
}

DraftBatch draft(const std::string& json, std::int64_t now_ms) {
  auto drafts = decode_events(json, Framing::json, Intake{.now_ms = now_ms});
  EXPECT_TRUE(drafts.has_value()) << json;
  return std::move(*drafts);
}

}  // namespace

World::World(std::uint64_t seed)
    : random_(seed),
      faults_percent_(seed % 3 == 0 ? 0 : static_cast<unsigned>(random_.below(25))),
      store_(memory_, random_),
      receiver_(random_, clock_),
      people_(random_, names("job-", 2 + random_.below(4)), names("r", kRunners)),
      keys_(random_) {
  std::size_t count = 1 + random_.below(3);
  ReplicaParts parts{store_, random_, clock_, wire_, receiver_, count == 1};
  for (std::size_t i = 0; i < count; ++i) {
    replicas_.push_back(std::make_unique<Replica>(parts));
    replicas_.back()->open();
    replicas_.back()->run_all();  // the first start is on a good disk
  }
  for (const std::string& name : names("r", kRunners)) {
    runners_.push_back(std::make_unique<SimRunner>(name, random_, clock_, claims_));
  }
  for (auto& replica : replicas_) {
    for (auto& other : replicas_) {
      if (other != replica) replica->bus.peers.push_back(&other->bus);
    }
  }
  for (std::size_t i = 0; i < 1 + random_.below(4); ++i) {
    tasks_.push_back("task-" + std::to_string(i));
    TaskSpec spec;
    spec.id = tasks_.back();
    spec.description = "simulated";
    auto made = memory_.write([&](WriteTxn& txn) { (void)txn.create_task(spec, clock_.wall_ms(), ""); });
    EXPECT_TRUE(made.has_value());
  }
  add_producers();
  add_consumers();
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    followers_.push_back(std::make_unique<SimFollower>("follower " + std::to_string(i), random_));
    followers_.back()->join(replicas_[i]->journal, replicas_[i]->workers);
  }
}

World::~World() {
  consumers_.clear();
  followers_.clear();
  for (auto& replica : replicas_) {
    replica->close();
    replica->journal.drain();
    replica->run_all();
  }
}

void World::add_producers() {
  for (const auto& task : tasks_) {
    SimProducer producer;
    producer.task = task;
    producer.strict = random_.below(3) != 0;
    producer.id = producer.strict ? "spool-" + task : "";
    producer.home = random_.below(replicas_.size());
    producer.total = 5 + random_.below(60);
    producers_.push_back(std::move(producer));
  }
}

void World::add_consumers() {
  std::size_t count = 1 + random_.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    FeedOptions options;
    if (random_.below(3) != 0) options.task = tasks_[random_.below(tasks_.size())];
    options.encoder = options.task.empty() ? &kAllFrames : &kTaskFrames;
    if (random_.below(4) == 0) options.types.known = mask_of(EventType::tool_call) | mask_of(EventType::status);
    if (options.task.empty() && random_.below(3) == 0) options.tasks = std::set<std::string>{tasks_[0]};
    options.deltas = random_.below(4) == 0;
    consumers_.push_back(std::make_unique<SimConsumer>("consumer " + std::to_string(i), std::move(options), 0));
  }
}

void World::post(SimProducer& producer, std::uint64_t number, Replica& replica) {
  const char* type = number % 5 == 0 ? "tool_call" : "output";
  std::string state = producer.strict && number == producer.total ? R"(,"data":{"state":"completed"})" : "";
  if (!state.empty()) type = "status";
  AppendRequest request;
  request.task = producer.task;
  request.producer = {producer.strict ? ProducerKind::strict : ProducerKind::loose, producer.id};
  request.received_ms = clock_.wall_ms();
  request.drafts = draft(R"({"type":")" + std::string(type) + R"(","sequence":)" + std::to_string(number) +
                             R"(,"timestamp":"2026-01-01T00:00:00Z","summary":"number )" + std::to_string(number) +
                             R"(")" + state + "}",
                         clock_.wall_ms());
  producer.in_flight = producer.strict;
  replica.journal.append(std::move(request), [&producer, number](Result<Appended> appended) {
    producer.in_flight = false;
    if (appended) producer.acknowledged.insert(number);
    if (!appended) {
      EXPECT_TRUE(retryable(appended.error().code)) << appended.error().message;
    }
    if (appended && producer.strict && number == producer.next) ++producer.next;
  });
}

void World::produce(SimProducer& producer) {
  if (!producer.strict) return produce_loose(producer);
  if (producer.in_flight || producer.next > producer.total) return;
  // Sometimes it forgets an acknowledgement and posts again, as after a restart.
  std::uint64_t number = producer.next > 1 && random_.below(10) == 0 ? 1 + random_.below(producer.next) : producer.next;
  post(producer, number, *replicas_[random_.below(replicas_.size())]);
}

void World::produce_loose(SimProducer& producer) {
  if (producer.shuffled.empty()) {
    for (std::size_t i = 0; i < 6 && producer.next <= producer.total; ++i) producer.shuffled.push_back(producer.next++);
    for (std::size_t i = 1; i < producer.shuffled.size(); ++i) {
      std::swap(producer.shuffled[i], producer.shuffled[random_.below(i + 1)]);
    }
  }
  if (producer.shuffled.empty()) return;
  std::uint64_t number = producer.shuffled.back();
  producer.shuffled.pop_back();
  post(producer, number, *replicas_[producer.home]);
}

void World::drop_old_events(Replica& replica) {
  const auto& task = tasks_[random_.below(tasks_.size())];
  auto row = memory_.task(task);
  if (!row || row->state.last_sequence < 4) return;
  std::uint64_t through = 1 + random_.below(row->state.last_sequence / 2);
  replica.journal.drop({{task, through}}, [](const Result<void>&) {});
}

// What is no event: side tasks and records. Whether a write succeeded is for the store to say.
void World::change_something(Replica& replica) {
  std::string name = "side-" + std::to_string(random_.below(4));
  auto ignore = [](const auto&) {};
  switch (random_.below(4)) {
    case 0: {
      TaskSpec spec;
      spec.id = name;
      spec.description = "side";
      return replica.journal.create_task(std::move(spec), "", ignore);
    }
    case 1:
      return replica.journal.delete_task(name, ignore);
    case 2:
      return replica.journal.update_task(
          name,
          [title = std::to_string(random_.below(100))](TaskSpec& spec) -> Result<void> {
            spec.title = title;
            return {};
          },
          ignore);
    default:
      return replica.journal.write(
          [name, value = random_.below(3) == 0 ? std::string() : std::to_string(random_.below(100))](WriteTxn& txn) {
            return txn.put_record("side", name, value);
          },
          ignore);
  }
}

// Some server processes end and start again, sometimes all of them. What has expired meanwhile must not be there when
// runners come back.
void World::restart() {
  ++claims_.begun;
  restarted_ = true;  // the journal gives up waiting for early events
  if (random_.below(3) != 0) {
    Replica& one = *replicas_[random_.below(replicas_.size())];
    one.close();
    one.open();
    return;
  }
  for (auto& replica : replicas_) replica->close();
  clock_.advance_ms(static_cast<std::int64_t>(random_.below(15'000)));
  store_.set_fault_percent(0);
  for (auto& replica : replicas_) EXPECT_TRUE(replica->open());
  check_nothing_expired(memory_, clock_.wall_ms());
  store_.set_fault_percent(faults_percent_);
}

void World::act() {
  clock_.advance_ms(1);
  std::size_t which = random_.below(replicas_.size());
  Replica& replica = *replicas_[which];
  SimFollower& follower = *followers_[which];
  SimConsumer& consumer = *consumers_[random_.below(consumers_.size())];
  SimRunner& runner = *runners_[random_.below(runners_.size())];
  switch (random_.below(26)) {
    case 15:
    case 16:
    case 17:
    case 18:
      return runner.act(replica, people_.jobs(), false);
    case 19:
    case 20:
      return people_.act(replica, memory_);
    case 21:
      return keys_.act(replica);
    case 22:
      return receiver_.act();
    case 23:
      if (!replica.is_open()) replica.open();
      if (random_.below(15) == 0) restart();
      return;
    case 24:
      replica.journal.step();
      return;
    case 25:
      replica.workers.run_one();
      return;
    case 12:
      return change_something(replica);
    case 13:
      return follower.go_on();
    case 14:
      if (!follower.joined()) return follower.join(replica.journal, replica.workers);
      if (random_.below(20) == 0) follower.leave();
      return;
    case 0:
    case 1:
    case 2:
      produce(producers_[random_.below(producers_.size())]);
      break;
    case 3:
    case 4:
      replica.journal.step();
      break;
    case 5:
      replica.workers.run_nth(random_.below(replica.workers.pending() + 1));
      break;
    case 6:
    case 7:
      replica.io.run_one();
      break;
    case 8:
      if (!wire_.empty()) {
        auto [bus, hint] = wire_.front();
        wire_.pop_front();
        bus->deliver(hint);
      }
      break;
    case 9:
      if (consumer.ended()) break;
      if (consumer.connected() && (consumer.broken() || random_.below(8) == 0)) {
        consumer.hang_up();
      } else if (!consumer.connected()) {
        consumer.connect(replica);
      }
      break;
    case 10:
      if (consumer.idle()) consumer.next();
      if (random_.below(20) == 0) drop_old_events(replica);
      if (random_.below(10) == 0) replica.journal.publish_delta(tasks_[0], R"({"block":1,"text":"x"})");
      break;
    default:
      clock_.advance_ms(static_cast<std::int64_t>(random_.below(700)));
      replica.tick();
      if (consumer.connected() && !consumer.ended()) consumer.tick(clock_.steady_ms());
  }
}

bool World::jobs_have_ended() const {
  return std::ranges::none_of(people_.jobs(), [&](const std::string& job) {
    auto row = memory_.row(job);
    return row && !is_terminal(row->state.state);
  });
}

bool World::callbacks_have_settled() const {
  auto callbacks = memory_.records(kCallbackRecords);
  return std::ranges::none_of(*callbacks, [](const auto& each) {
    return decode_callback_record(each.second).state == CallbackRecord::State::pending;
  });
}

bool World::settle_clients(bool ended) {
  bool busy = false;
  for (auto& producer : producers_) {
    busy = busy || !producer.finished() || producer.in_flight;
    produce(producer);
  }
  for (auto& consumer : consumers_) {
    if (consumer->ended()) continue;
    if (consumer->broken()) consumer->hang_up();
    if (!consumer->connected()) consumer->connect(*replicas_[random_.below(replicas_.size())]);
    if (consumer->idle()) consumer->next();
  }
  for (auto& runner : runners_) {
    if (ended && runner->is_resting()) continue;
    runner->act(*replicas_[random_.below(replicas_.size())], people_.jobs(), true);
    busy = busy || !runner->is_resting();
  }
  return receiver_.accept_all() || busy;
}

// Turns faults off and runs everything that can run, until nothing changes any more.
void World::settle() {
  store_.set_fault_percent(0);
  int quiet = 0;
  bool settled = false;
  for (int round = 0; round < 800 && (quiet < 8 || !settled); ++round) {
    bool ended = jobs_have_ended();
    bool busy = settle_clients(ended) || !ended;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (!followers_[i]->joined()) followers_[i]->join(replicas_[i]->journal, replicas_[i]->workers);
      followers_[i]->go_on();
      busy = busy || !followers_[i]->is_at(*memory_.newest_place());
    }
    // Only a callback whose process has gone takes long.
    clock_.advance_ms(quiet > 0 ? 20'000 : 1'100);
    for (auto& replica : replicas_) {
      replica->open();
      replica->tick();
      busy = replica->run_all() || busy;
    }
    for (; !wire_.empty(); wire_.pop_front()) wire_.front().first->deliver(wire_.front().second);
    quiet = busy ? 0 : quiet + 1;
    settled = callbacks_have_settled();
  }
}

std::vector<std::string> World::log_of(const std::string& task) const {
  std::vector<std::string> summaries;
  auto page = memory_.read(task, 0, kEverything);
  EXPECT_TRUE(page.has_value());
  std::uint64_t expected = 0;
  for (const auto& stored : page->batches) {
    for (std::size_t i = 0; i < stored->size(); ++i) {
      auto event = parse_event(stored->event(i));
      EXPECT_TRUE(event.has_value());
      if (expected != 0) {
        EXPECT_EQ(event->sequence, expected) << "the log has a hole";
      }
      expected = event->sequence + 1;
      summaries.push_back(event->summary);
    }
  }
  return summaries;
}

void World::check_producer(const SimProducer& producer) {
  auto summaries = log_of(producer.task);
  std::vector<std::uint64_t> found;
  for (const auto& summary : summaries) {
    std::string_view text = summary;
    if (!text.starts_with("number ")) continue;
    text.remove_prefix(7);
    found.push_back(take_number(text));
  }
  std::set<std::uint64_t> once(found.begin(), found.end());
  EXPECT_EQ(once.size(), found.size()) << producer.task << ": an event is in the log twice";
  // Retention may have dropped the log's beginning; of a strict producer the newest numbers remain.
  auto row = memory_.task(producer.task);
  ASSERT_TRUE(row.has_value());
  bool whole = row->state.first_sequence <= 1;
  for (std::uint64_t number : producer.acknowledged) {
    if (whole) {
      EXPECT_TRUE(once.contains(number)) << producer.task << ": acknowledged " << number << " is not stored";
    }
  }
  if (producer.strict) {
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end())) << producer.task << ": order of a strict producer";
    EXPECT_EQ(found.empty() ? 0 : found.back(), producer.total);
    EXPECT_EQ(row->state.state, State::completed);
  } else if (whole && faults_percent_ == 0 && !restarted_ &&
             std::none_of(summaries.begin(), summaries.end(), [](const std::string& summary) {
               return summary.ends_with("not arrived");  // the wait ended before the number arrived
             })) {
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end())) << producer.task << ": early events did not wait";
  }
}

// The last hint is lost, and nothing else happens: the replicas find out by themselves.
void World::lose_last_hint() {
  for (int i = 0; i < 3; ++i) keys_.act(*replicas_.front());
  replicas_.front()->run_all();
  wire_.clear();
  for (int round = 0; round < 60; ++round) {
    clock_.advance_ms(1'100);
    bool all = true;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      replicas_[i]->journal.tick();
      replicas_[i]->run_all();
      followers_[i]->go_on();
      replicas_[i]->run_all();
      all = all && followers_[i]->is_at(*memory_.newest_place());
    }
    if (all) return;
  }
}

// No replica has a task to give any more.
void World::check_claims(Replica& replica) {
  ClaimRequest request;
  request.runner = "anyone";
  request.agents = {SimRunner::kAgent};
  bool answered = false;
  replica.steering->claim(std::move(request), [&](Result<std::optional<Claim>> claim) {
    answered = true;
    EXPECT_TRUE(claim && !*claim) << "a replica offers " << (claim ? (*claim)->task : claim.error().message);
  });
  replica.run_all();
  EXPECT_TRUE(answered);
}

void World::check() {
  for (const auto& producer : producers_) check_producer(producer);
  for (const auto& consumer : consumers_) consumer->check_complete(memory_);
  for (const auto& follower : followers_) follower->check_complete(memory_);
  keys_.check(replicas_, memory_);
  check_records(memory_);
  for (const std::string& job : people_.jobs()) {
    auto row = memory_.row(job);
    if (row) check_job_log(memory_, *row, people_);
    for (const auto& replica : replicas_) {
      if (row) check_job_callbacks(memory_, *row, *replica, receiver_);
      if (!row) check_deleted_job(memory_, job, *replica);
    }
  }
  for (const auto& replica : replicas_) {
    EXPECT_EQ(replica->steering->leases().size(), 0u) << "a replica remembers a lease";
    check_inbox(memory_, *replica, clock_.wall_ms());
    check_claims(*replica);
  }
}

void World::run() {
  store_.set_fault_percent(faults_percent_);
  claims_.exact = faults_percent_ == 0;
  for (int i = 0; i < kActs; ++i) act();
  settle();
  lose_last_hint();
  check();
}

}  // namespace shepherd::simulation
