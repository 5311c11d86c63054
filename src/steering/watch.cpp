#include "steering/watch.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <future>
#include <set>
#include <thread>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "hub/task_names.h"

namespace shepherd {
namespace {

constexpr const char* kRecordKind = "steering";
constexpr const char* kCursorKey = "cursor";

struct Start {
  std::uint64_t position = 0;
  bool stored = false;
};

Result<Start> first_position(const EventStore& store) {
  auto records = store.records(kRecordKind);
  if (!records) return fail(records.error());
  auto heads = store.heads({""});
  if (!heads) return fail(heads.error());
  std::uint64_t newest = (*heads)[""];
  auto record = records->find(kCursorKey);
  if (record == records->end()) return Start{newest, false};
  std::uint64_t position = 0;
  const std::string& text = record->second;
  std::from_chars(text.data(), text.data() + text.size(), position);
  return Start{std::min(position, newest), true};
}

}  // namespace

struct Watch::State final : FeedConsumer, std::enable_shared_from_this<State> {
  State(Journal& the_journal, Executor& the_executor, Executor& the_lanes, const Clock& the_clock, OnTasks handler)
      : journal(the_journal),
        executor(the_executor),
        lanes(the_lanes),
        clock(the_clock),
        on_tasks(std::move(handler)) {}

  // --- on the executor ---

  void open_feed() {
    if (stopped) return;
    FeedOptions options;
    options.after = done_through;
    options.types.known = mask_of(EventType::command) | mask_of(EventType::command_result) |
                          mask_of(EventType::approval) | mask_of(EventType::status);
    options.encoder = &task_names_encoder();
    options.executor = &executor;
    feed = journal.open_feed(std::move(options), *this);
    feed->next();
  }

  void on_frames(FrameBatch&& batch) override {
    std::set<std::string> names;
    for (const ByteSpan& span : batch.spans) {
      for (std::string_view task : task_names(span.bytes)) names.emplace(task);
    }
    if (names.empty()) return went_through(batch.number);
    look({names.begin(), names.end()}, batch.number);
  }

  void look(std::vector<std::string> tasks, std::uint64_t number) {
    looking.fetch_add(1);
    lanes.post([self = shared_from_this(), tasks = std::move(tasks), number]() mutable {
      self->on_tasks(std::move(tasks), [self, number](bool good) {
        self->executor.post([self, number, good] {
          if (good) {
            self->went_through(number);
          } else {
            self->broken = true;
          }
        });
        self->looking.fetch_sub(1);
      });
    });
  }

  void went_through(std::uint64_t number) {
    done_through = std::max(done_through, number);
    if (stopped || feed == nullptr) return;
    // Not from inside the feed's own call.
    executor.post([self = shared_from_this()] {
      if (self->feed != nullptr && !self->stopped) self->feed->next();
    });
  }

  void on_feed_error(const Error& error) override {
    log_warn("steering cannot read the logs now: {}", error.message);
    broken = true;
  }

  void tick() {
    if (stopped) return;
    if (feed != nullptr) feed->tick(clock.steady_ms());
    if (std::exchange(broken, false)) {
      feed.reset();
      open_feed();
    }
    std::int64_t now_ms = clock.steady_ms();
    if (now_ms - kept_ms < kWatchCursorInterval.count()) return;
    kept_ms = now_ms;
    keep_cursor();
  }

  void keep_cursor() {
    if (done_through == kept_through) return;
    kept_through = done_through;
    write_cursor(done_through);
  }

  void write_cursor(std::uint64_t position) {
    journal.write(
        [text = std::to_string(position)](WriteTxn& txn) { return txn.put_record(kRecordKind, kCursorKey, text); },
        [](Result<void> kept) {
          // An older cursor only means that more is read again.
          if (!kept) log_warn("steering could not keep its cursor: {}", kept.error().message);
        });
  }

  Journal& journal;
  Executor& executor;
  Executor& lanes;
  const Clock& clock;
  OnTasks on_tasks;

  // All of these: the executor's.
  std::unique_ptr<Feed> feed;
  std::uint64_t done_through = 0;
  std::uint64_t kept_through = 0;
  std::int64_t kept_ms = 0;
  bool broken = false;
  bool stopped = false;

  std::atomic<int> looking{0};  // calls of on_tasks under way
};

Result<std::unique_ptr<Watch>> Watch::open(Journal& journal, Executor& executor, Executor& lanes, const Clock& clock,
                                           OnTasks on_tasks) {
  auto start = first_position(journal.store());
  if (!start) return fail(start.error());
  auto state = std::make_shared<State>(journal, executor, lanes, clock, std::move(on_tasks));
  state->done_through = start->position;
  state->kept_through = start->position;
  // Before anything that is appended from now on: a crash must not make the next start begin behind it.
  if (!start->stored) state->write_cursor(start->position);
  state->kept_ms = clock.steady_ms();
  executor.post([state] { state->open_feed(); });
  return std::unique_ptr<Watch>(new Watch(std::move(state)));
}

Watch::~Watch() = default;

void Watch::tick() {
  state_->executor.post([state = state_] { state->tick(); });
}

void Watch::stop() {
  std::promise<void> stopped;
  state_->executor.post([state = state_, &stopped] {
    state->stopped = true;
    state->feed.reset();
    state->keep_cursor();
    stopped.set_value();
  });
  stopped.get_future().wait();
  // They end by themselves, and this happens once.
  while (state_->looking.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace shepherd
