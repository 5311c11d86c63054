#include "world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "model/wire_json.h"

namespace shepherd::simulation {
namespace {

// Encodes frames as text lines that a consumer can parse: E task sequence position, G from to, C task.
class LineEncoder final : public FrameEncoder {
 public:
  explicit LineEncoder(bool all) : all_(all) {}
  void event(std::string& out, const EventBatch& stored, std::size_t i) const override {
    out += "E " + std::to_string(all_ ? stored.position + i : stored.first + i) + "\n";
  }
  void gap(std::string& out, std::string_view, std::uint64_t from, std::uint64_t to) const override {
    out += "G " + std::to_string(from) + " " + std::to_string(to) + "\n";
  }
  void caught_up(std::string& out, std::string_view, std::uint64_t number) const override {
    out += "U " + std::to_string(number) + "\n";
  }
  void position(std::string& out, std::string_view, std::uint64_t number) const override {
    out += "P " + std::to_string(number) + "\n";
  }
  void delta(std::string& out, std::string_view, std::string_view) const override { out += "D 0\n"; }
  void complete(std::string& out, std::string_view, std::string_view, std::uint64_t last) const override {
    out += "C " + std::to_string(last) + "\n";
  }

 private:
  bool all_;
};

const LineEncoder kTaskLines(false);
const LineEncoder kAllLines(true);

std::uint64_t take_number(std::string_view& text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_EQ(error, std::errc());
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

DraftBatch draft(const std::string& json, std::int64_t now_ms) {
  auto drafts = decode_events(json, Framing::json, Intake{.now_ms = now_ms});
  EXPECT_TRUE(drafts.has_value()) << json;
  return std::move(*drafts);
}

constexpr ReadLimit kEverything{1'000'000, 1'000'000'000};

}  // namespace

// --- bus and replica ---

void SimBus::publish(const Hint& hint) {
  for (SimBus* peer : peers) {
    auto luck = random_.below(10);
    if (luck < 3) continue;  // lost
    wire_.emplace_back(peer, hint);
    if (luck == 9) wire_.emplace_back(peer, hint);  // repeated
    if (luck >= 7 && wire_.size() > 1) std::swap(wire_.back(), wire_[random_.below(wire_.size())]);
  }
}

Replica::Replica(EventStore& store, Random& random, const Clock& clock, std::deque<std::pair<SimBus*, Hint>>& wire)
    : bus(random, wire), hub(clock, metrics), journal(store, hub, bus, workers, clock, metrics, false) {}

// --- consumer ---

void SimConsumer::connect(Replica& replica) {
  FeedOptions options = options_;
  options.after = cursor_;
  options.executor = &replica.io;
  broken_ = false;
  ready_ = true;
  feed_ = replica.journal.open_feed(std::move(options), *this);
}

void SimConsumer::next() {
  ready_ = false;
  feed_->next();
}

void SimConsumer::on_frames(FrameBatch&& batch) {
  for (const auto& span : batch.spans) {
    std::string_view rest = span.bytes;
    while (!rest.empty()) {
      auto line_end = rest.find('\n');
      frame(rest.substr(0, line_end));
      rest.remove_prefix(line_end + 1);
    }
  }
  ended_ = batch.end;
  ready_ = !ended_;
}

void SimConsumer::frame(std::string_view line) {
  char kind = line[0];
  line.remove_prefix(2);
  std::uint64_t number = take_number(line);
  bool filtered = !options_.types.everything() || options_.tasks;
  switch (kind) {
    case 'E':
      if (filtered) {
        EXPECT_GT(number, cursor_) << name_ << ": repeat or disorder";
      } else {
        EXPECT_EQ(number, cursor_ + 1) << name_ << ": hole, repeat or disorder";
      }
      received_.push_back(number);
      cursor_ = number;
      break;
    case 'G': {
      if (filtered) {
        EXPECT_GT(number, cursor_) << name_ << ": a gap lies ahead";
      } else {
        EXPECT_EQ(number, cursor_ + 1) << name_ << ": a gap begins where the consumer is";
      }
      cursor_ = take_number(line);
      break;
    }
    case 'P':
    case 'U':
      EXPECT_GE(number, cursor_) << name_;
      cursor_ = number;
      break;
    default:
      break;
  }
}

void SimConsumer::check_complete(const EventStore& store) const {
  Selection selection{options_.types, options_.tasks};
  bool all = options_.task.empty();
  auto page = all ? store.read_all(start_, kEverything) : store.read(options_.task, start_, kEverything);
  ASSERT_TRUE(page.has_value());
  std::vector<std::uint64_t> wanted;
  for (const auto& stored : page->batches) {
    for (std::size_t i = 0; i < stored->size(); ++i) {
      std::uint64_t number = (all ? stored->position : stored->first) + i;
      if (number > start_ && selection.takes_task(stored->task) && selection.takes_event(*stored, i))
        wanted.push_back(number);
    }
  }
  EXPECT_TRUE(std::includes(received_.begin(), received_.end(), wanted.begin(), wanted.end()))
      << name_ << " missed events: has " << received_.size() << " up to " << cursor_ << ", the store kept "
      << wanted.size() << " up to " << page->head;
}

// --- world ---

World::World(std::uint64_t seed)
    : seed_(seed),
      random_(seed),
      faults_percent_(seed % 3 == 0 ? 0 : static_cast<unsigned>(random_.below(25))),
      store_(memory_, random_) {
  std::size_t count = 1 + random_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    replicas_.push_back(std::make_unique<Replica>(store_, random_, clock_, wire_));
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
    replica->journal.drain();
    while (replica->workers.run_one() || replica->io.run_one()) {
    }
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
    options.encoder = options.task.empty() ? &kAllLines : &kTaskLines;
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

void World::drop_old_events() {
  const auto& task = tasks_[random_.below(tasks_.size())];
  auto row = memory_.task(task);
  if (!row || row->state.last_sequence < 4) return;
  std::uint64_t through = 1 + random_.below(row->state.last_sequence / 2);
  auto dropped = memory_.write([&](WriteTxn& txn) { (void)txn.drop_through(task, through); });
  EXPECT_TRUE(dropped.has_value());
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

void World::act() {
  std::size_t which = random_.below(replicas_.size());
  Replica& replica = *replicas_[which];
  SimFollower& follower = *followers_[which];
  SimConsumer& consumer = *consumers_[random_.below(consumers_.size())];
  switch (random_.below(15)) {
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
      if (random_.below(20) == 0) drop_old_events();
      if (random_.below(10) == 0) replica.journal.publish_delta(tasks_[0], R"({"block":1,"text":"x"})");
      break;
    default:
      clock_.advance_ms(static_cast<std::int64_t>(random_.below(700)));
      replica.journal.tick();
      if (consumer.connected() && !consumer.ended()) consumer.tick(clock_.steady_ms());
  }
}

// Turns faults off and runs everything that can run, until nothing changes any more.
void World::settle() {
  store_.set_fault_percent(0);
  for (int round = 0; round < 400; ++round) {
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
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (!followers_[i]->joined()) followers_[i]->join(replicas_[i]->journal, replicas_[i]->workers);
      followers_[i]->go_on();
      busy = busy || !followers_[i]->is_at(*memory_.newest_place());
    }
    clock_.advance_ms(1100);
    for (auto& replica : replicas_) {
      replica->journal.tick();
      while (replica->journal.step() || replica->workers.run_one() || replica->io.run_one()) busy = true;
    }
    for (; !wire_.empty(); wire_.pop_front()) wire_.front().first->deliver(wire_.front().second);
    if (!busy && round > 20) return;
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
  } else if (whole && faults_percent_ == 0 &&
             std::none_of(summaries.begin(), summaries.end(), [](const std::string& summary) {
               return summary.ends_with("not arrived");  // the wait ended before the number arrived
             })) {
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end())) << producer.task << ": early events did not wait";
  }
}

void World::check() {
  for (const auto& producer : producers_) check_producer(producer);
  for (const auto& consumer : consumers_) consumer->check_complete(memory_);
  for (const auto& follower : followers_) follower->check_complete(memory_);
}

void World::run() {
  store_.set_fault_percent(faults_percent_);
  for (int i = 0; i < 1900; ++i) act();
  settle();
  check();
}

}  // namespace shepherd::simulation
