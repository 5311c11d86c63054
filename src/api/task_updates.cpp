#include "api/task_updates.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/frames.h"
#include "api/limits.h"
#include "api/task_json.h"
#include "base/drain.h"
#include "base/log.h"
#include "base/mutex.h"

namespace shepherd {

struct TaskUpdates::Impl final : std::enable_shared_from_this<Impl> {
  struct Row {
    RowPtr changed;  // to be sent; nullptr: the client has the newest
    std::int64_t told_ms = 0;
  };
  struct Due {
    std::vector<std::string> deleted;
    std::vector<RowPtr> rows;
    bool empty() const { return deleted.empty() && rows.empty(); }
  };

  Impl(Steering& the_steering, const Redactor* the_redactor, Executor& the_workers, const Clock& the_clock,
       LiveRegistry& the_live)
      : steering(the_steering), redactor(the_redactor), workers(the_workers), clock(the_clock), live(the_live) {}

  void take(News news) EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      if (watchers == 0) return;
      for (std::string& task : news.deleted) {
        rows.erase(task);
        deleted.push_back(std::move(task));
      }
      for (RowPtr& row : news.rows) rows[row->spec.id].changed = std::move(row);
    }
    flush();
  }

  // Sends what is due, on one worker at a time, so that an old row never follows a newer one. What comes meanwhile
  // waits here until every stream has taken the last message, so a stream's io thread has at most one of them in its
  // queue.
  void flush() EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      if (sending || stopped || watchers == 0) return;
      sending = true;
      sends.enter();
    }
    post_send();
  }

  void post_send() {
    workers.post([self = shared_from_this()] { self->send_due(); });
  }

  void send_due() EXCLUDES(mutex) {
    Due due = take_due();
    due.empty() ? sends.leave() : tell(due);
  }

  Due take_due() EXCLUDES(mutex) {
    Due due;
    MutexLock lock(mutex);
    std::int64_t now_ms = clock.steady_ms();
    if (!stopped) due.deleted.swap(deleted);
    for (auto row = rows.begin(); row != rows.end() && !stopped;) {
      bool rested = now_ms - row->second.told_ms >= kTaskUpdateInterval.count();
      if (rested && row->second.changed) {
        due.rows.push_back(std::exchange(row->second.changed, nullptr));
        row->second.told_ms = now_ms;
      } else if (rested) {
        row = rows.erase(row);
        continue;
      }
      ++row;
    }
    if (due.empty()) sending = false;
    return due;
  }

  void tell(const Due& due) {
    // The streams' posts hold it; when the last of them has run, the next message may go.
    std::shared_ptr<std::vector<TaskUpdate>> updates(new std::vector<TaskUpdate>,
                                                     [self = shared_from_this()](const std::vector<TaskUpdate>* told) {
                                                       delete told;
                                                       self->post_send();
                                                     });
    for (const std::string& task : due.deleted) {
      std::string frame;
      append_websocket_message(frame, "task_deleted", task, "{}");
      updates->push_back({task, own_bytes(std::move(frame))});
    }
    for (const RowPtr& row : due.rows) {
      std::string data;
      append_row_json(data, *row, steering, redactor);
      std::string frame;
      append_websocket_message(frame, "task_update", row->spec.id, data);
      updates->push_back({row->spec.id, own_bytes(std::move(frame))});
    }
    live.tell(std::move(updates));
  }

  Steering& steering;
  const Redactor* redactor;
  Executor& workers;
  const Clock& clock;
  LiveRegistry& live;
  std::unique_ptr<Follower> follower;  // nullptr if the store could not be read

  Drain sends;
  Mutex mutex;
  std::size_t watchers GUARDED_BY(mutex) = 0;
  bool sending GUARDED_BY(mutex) = false;
  bool stopped GUARDED_BY(mutex) = false;
  std::map<std::string, Row> rows GUARDED_BY(mutex);
  std::vector<std::string> deleted GUARDED_BY(mutex);  // not told yet
};

TaskUpdates::TaskUpdates(Journal& journal, Steering& steering, const Redactor* redactor, Executor& workers,
                         const Clock& clock, LiveRegistry& live)
    : impl_(std::make_shared<Impl>(steering, redactor, workers, clock, live)) {
  FollowOptions options;
  options.name = "task_update";
  auto follower = journal.follow(std::move(options), workers, [impl = impl_.get()](News news, auto done) {
    impl->take(std::move(news));
    done(true);
  });
  if (!follower) {
    log_error("there will be no task_update messages: {}", follower.error().message);
    return;
  }
  impl_->follower = std::move(*follower);
  impl_->follower->pause();
}

TaskUpdates::~TaskUpdates() {
  if (impl_->follower) impl_->follower->stop();
  {
    MutexLock lock(impl_->mutex);
    impl_->stopped = true;
  }
  impl_->sends.wait();
}

void TaskUpdates::watch(Place place) {
  {
    MutexLock lock(impl_->mutex);
    if (++impl_->watchers != 1) return;
  }
  if (impl_->follower) impl_->follower->resume(place);
}

void TaskUpdates::unwatch() {
  {
    MutexLock lock(impl_->mutex);
    if (--impl_->watchers != 0) return;
    impl_->rows.clear();
    impl_->deleted.clear();
  }
  if (impl_->follower) impl_->follower->pause();
}

void TaskUpdates::tick() {
  {
    MutexLock lock(impl_->mutex);
    if (impl_->rows.empty()) return;
  }
  impl_->flush();
}

}  // namespace shepherd
