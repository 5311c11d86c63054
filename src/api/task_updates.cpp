#include "api/task_updates.h"

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "api/frames.h"
#include "api/limits.h"
#include "api/task_json.h"
#include "base/mutex.h"
#include "journal/changed_tasks.h"

namespace shepherd {

struct TaskUpdates::Impl final : std::enable_shared_from_this<Impl> {
  struct Row {
    bool changed = false;
    std::int64_t told_ms = 0;
  };

  Impl(Journal& the_journal, Steering& the_steering, const Redactor* the_redactor, Executor& the_workers,
       const Clock& the_clock, LiveRegistry& the_live)
      : journal(the_journal),
        steering(the_steering),
        redactor(the_redactor),
        workers(the_workers),
        clock(the_clock),
        live(the_live) {}

  // --- on the feed's executor ---

  void open(Executor& home, std::uint64_t position) {
    if (!feed.is_open() && watched()) feed.open(home, position);
  }

  void close_if_unwatched() {
    if (!watched()) feed.close();
  }

  void take_names(const std::set<std::string>& tasks, std::uint64_t through) EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      for (const std::string& task : tasks) rows[task].changed = true;
    }
    flush();
    feed.done(through);
  }

  // --- on any thread ---

  bool watched() EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return watchers > 0 && !stopped;
  }

  // Starts reading the rows that are due, one read at a time, so that an old row never follows a newer one.
  void flush() EXCLUDES(mutex) {
    std::vector<std::string> due;
    {
      MutexLock lock(mutex);
      if (reading || stopped || watchers == 0) return;
      std::int64_t now_ms = clock.steady_ms();
      for (auto row = rows.begin(); row != rows.end();) {
        bool rested = now_ms - row->second.told_ms >= kTaskUpdateInterval.count();
        if (rested && row->second.changed) {
          row->second = {false, now_ms};
          due.push_back(row->first);
        } else if (rested) {
          row = rows.erase(row);
          continue;
        }
        ++row;
      }
      if (due.empty()) return;
      reading = true;
      jobs.fetch_add(1);
    }
    workers.post([self = shared_from_this(), due = std::move(due)] { self->tell(due); });
  }

  void tell(const std::vector<std::string>& tasks) EXCLUDES(mutex) {
    auto updates = std::make_shared<std::vector<TaskUpdate>>();
    for (const std::string& id : tasks) {
      auto task = journal.store().task(id);
      if (!task) continue;  // deleted since
      std::string data;
      append_task_json(data, *task, steering, redactor);
      std::string frame;
      append_websocket_message(frame, "task_update", id, data);
      updates->push_back({id, own_bytes(std::move(frame))});
    }
    if (!updates->empty()) live.tell(std::move(updates));
    {
      MutexLock lock(mutex);
      reading = false;
    }
    jobs.fetch_sub(1);
  }

  Journal& journal;
  Steering& steering;
  const Redactor* redactor;
  Executor& workers;
  const Clock& clock;
  LiveRegistry& live;

  ChangedTasks feed{journal, "task_update", {}, [this](const std::set<std::string>& tasks, std::uint64_t through) {
                      take_names(tasks, through);
                    }};  // owned by the executor

  std::atomic<int> jobs{0};
  Mutex mutex;
  Executor* executor GUARDED_BY(mutex) = nullptr;
  std::size_t watchers GUARDED_BY(mutex) = 0;
  bool reading GUARDED_BY(mutex) = false;
  bool stopped GUARDED_BY(mutex) = false;
  std::map<std::string, Row> rows GUARDED_BY(mutex);
};

TaskUpdates::TaskUpdates(Journal& journal, Steering& steering, const Redactor* redactor, Executor& workers,
                         const Clock& clock, LiveRegistry& live)
    : impl_(std::make_shared<Impl>(journal, steering, redactor, workers, clock, live)) {}

TaskUpdates::~TaskUpdates() {
  {
    MutexLock lock(impl_->mutex);
    impl_->stopped = true;
  }
  while (impl_->jobs.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void TaskUpdates::watch(Executor& executor, std::uint64_t position) {
  Executor* home = nullptr;
  {
    MutexLock lock(impl_->mutex);
    if (++impl_->watchers != 1) return;
    if (impl_->executor == nullptr) impl_->executor = &executor;
    home = impl_->executor;
  }
  home->post([impl = impl_, home, position] { impl->open(*home, position); });
}

void TaskUpdates::unwatch() {
  Executor* home = nullptr;
  {
    MutexLock lock(impl_->mutex);
    if (--impl_->watchers != 0) return;
    home = impl_->executor;
    impl_->rows.clear();
  }
  home->post([impl = impl_] { impl->close_if_unwatched(); });
}

void TaskUpdates::touch(const std::string& task) {
  {
    MutexLock lock(impl_->mutex);
    if (impl_->watchers == 0) return;
    impl_->rows[task].changed = true;
  }
  impl_->flush();
}

void TaskUpdates::tick() {
  Executor* home = nullptr;
  {
    MutexLock lock(impl_->mutex);
    home = impl_->executor;
  }
  if (home != nullptr) home->post([impl = impl_] { impl->feed.tick(impl->clock.steady_ms()); });
  impl_->flush();
}

}  // namespace shepherd
