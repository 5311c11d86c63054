#include "steering/watch.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <future>
#include <set>
#include <thread>
#include <utility>

#include "base/log.h"
#include "journal/changed_tasks.h"
#include "steering/limits.h"

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

struct Watch::Impl final : std::enable_shared_from_this<Impl> {
  Impl(Journal& the_journal, Executor& the_executor, Executor& the_workers, const Clock& the_clock, OnTasks handler)
      : journal(the_journal),
        executor(the_executor),
        workers(the_workers),
        clock(the_clock),
        on_tasks(std::move(handler)) {}

  // --- on the executor ---

  void open_feed(std::uint64_t after) {
    if (!stopped) feed.open(executor, after);
  }

  void take_names(std::set<std::string> tasks, std::uint64_t through) {
    if (tasks.empty()) return feed.done(through);
    looking.fetch_add(1);
    workers.post(
        [self = shared_from_this(), tasks = std::vector<std::string>(tasks.begin(), tasks.end()), through]() mutable {
          self->on_tasks(std::move(tasks), [self, through](bool good) {
            self->executor.post([self, through, good] {
              if (good) {
                self->feed.done(through);
              } else {
                self->feed.failed();
              }
            });
            self->looking.fetch_sub(1);
          });
        });
  }

  void tick() {
    if (stopped) return;
    std::int64_t now_ms = clock.steady_ms();
    feed.tick(now_ms);
    if (now_ms - kept_ms < kWatchCursorInterval.count()) return;
    kept_ms = now_ms;
    keep_cursor();
  }

  void keep_cursor() {
    if (feed.done_through() == kept_through) return;
    kept_through = feed.done_through();
    write_cursor(kept_through);
  }

  void write_cursor(std::uint64_t position) {
    journal.write(
        [text = std::to_string(position)](WriteTxn& txn) { return txn.put_record(kRecordKind, kCursorKey, text); },
        [](Result<void> kept) {
          // An older cursor only causes more events to be read again.
          if (!kept) log_warn("steering could not keep its cursor: {}", kept.error().message);
        });
  }

  Journal& journal;
  Executor& executor;
  Executor& workers;
  const Clock& clock;
  OnTasks on_tasks;

  // The executor owns all of these.
  ChangedTasks feed{journal, "steering", steering_types(), [this](std::set<std::string> tasks, std::uint64_t through) {
                      take_names(std::move(tasks), through);
                    }};
  std::uint64_t kept_through = 0;
  std::int64_t kept_ms = 0;
  bool stopped = false;

  std::atomic<int> looking{0};  // number of running on_tasks calls
};

Result<std::unique_ptr<Watch>> Watch::open(Journal& journal, Executor& executor, Executor& workers, const Clock& clock,
                                           OnTasks on_tasks) {
  auto start = first_position(journal.store());
  if (!start) return fail(start.error());
  auto impl = std::make_shared<Impl>(journal, executor, workers, clock, std::move(on_tasks));
  impl->kept_through = start->position;
  // Before anything that is appended from now on: a crash must not make the next start begin behind it.
  if (!start->stored) impl->write_cursor(start->position);
  impl->kept_ms = clock.steady_ms();
  executor.post([impl, after = start->position] { impl->open_feed(after); });
  return std::unique_ptr<Watch>(new Watch(std::move(impl)));
}

Watch::~Watch() = default;

void Watch::tick() {
  impl_->executor.post([impl = impl_] { impl->tick(); });
}

void Watch::stop() {
  std::promise<void> stopped;
  impl_->executor.post([impl = impl_, &stopped] {
    impl->stopped = true;
    impl->feed.close();
    impl->keep_cursor();
    stopped.set_value();
  });
  stopped.get_future().wait();
  // They end by themselves, and this happens once.
  while (impl_->looking.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace shepherd
