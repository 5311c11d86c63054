#include "follow/inbox.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "follow/limits.h"
#include "journal/changed_tasks.h"
#include "model/wire_json.h"
#include "store/task_match.h"

namespace shepherd {
namespace {

constexpr const char* kDismissed = "inbox_dismissed";  // records: task -> last sequence of its log at the dismissal

bool same(const TaskNeed& a, const TaskNeed& b) {
  auto approval = [](const TaskNeed& need) { return need.approval ? need.approval->id : std::string(); };
  return a.kind == b.kind && a.sequence == b.sequence && a.summary == b.summary && a.title == b.title &&
         approval(a) == approval(b);
}

}  // namespace

struct Inbox::Impl final : std::enable_shared_from_this<Impl> {
  Impl(Journal& the_journal, Executor& the_executor, Executor& the_workers, const Clock& the_clock,
       std::chrono::milliseconds the_stall)
      : journal(the_journal), executor(the_executor), workers(the_workers), clock(the_clock), stall(the_stall) {}

  // --- on the executor ---

  void open_feed(std::uint64_t after) {
    if (!ended) feed.open(executor, after);
  }

  void take_names(std::set<std::string> tasks, std::uint64_t through) {
    if (!tasks.empty()) look_at(std::move(tasks), false);
    feed.done(through);
  }

  // --- on any thread ---

  // One worker at a time looks, so that an old row never replaces a newer one.
  void look_at(std::set<std::string> tasks, bool everything) EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      if (stopped) return;
      noted.merge(tasks);
      sweep = sweep || everything;
      if (looking) return;
      looking = true;
    }
    workers.post([self = shared_from_this()] { self->look(); });
  }

  void look() EXCLUDES(mutex) {
    for (;;) {
      std::set<std::string> tasks;
      bool everything = false;
      bool news = false;
      {
        MutexLock lock(mutex);
        if (stopped || (noted.empty() && !sweep)) {
          looking = false;
          return;
        }
        tasks.swap(noted);
        everything = std::exchange(sweep, false);
        news = std::exchange(untold, false);
      }
      for (const std::string& id : tasks) news = look_at_task(id) || news;
      if (everything) news = look_at_all() || news;
      if (news) tell();
    }
  }

  bool look_at_task(const std::string& id) EXCLUDES(mutex) {
    auto task = journal.store().task(id);
    if (task) return take(*task);
    if (task.error().code != ErrorCode::not_found) return false;  // the next sweep tries again
    MutexLock lock(mutex);
    census.erase(id);
    return entries.erase(id) != 0;
  }

  // Looks at all active tasks, at listed ones and, the first time, at recent failures.
  bool look_at_all() EXCLUDES(mutex) {
    std::set<std::string> listed;
    std::vector<TaskFilter> filters{{.active = true}};
    {
      MutexLock lock(mutex);
      for (const auto& [task, needs] : entries) listed.insert(task);
      for (const auto& [task, group] : census) listed.insert(task);
      if (!complete) {
        filters.push_back({.state = State::failed});
        filters.push_back({.state = State::timed_out});
      }
    }
    bool news = false;
    bool read = true;
    for (TaskFilter& filter : filters) {
      filter.limit = kMaxTaskPage;
      for (std::size_t seen = 0; seen < kMaxInboxTasks; seen += filter.limit) {
        auto page = journal.store().tasks(filter);
        read = read && page.has_value();
        if (!page) break;
        for (const Task& task : *page) {
          news = take(task) || news;
          listed.erase(task.spec.id);
        }
        if (page->size() < filter.limit) break;
        filter.before = place_after(page->back());
      }
    }
    for (const std::string& id : listed) news = look_at_task(id) || news;
    MutexLock lock(mutex);
    complete = complete || read;
    return news;
  }

  // Returns true if the task's entries changed.
  bool take(const Task& task) EXCLUDES(mutex) {
    std::vector<TaskNeed> needs = needs_of(task, clock.wall_ms(), stall);
    std::vector<TaskNeed> before;
    {
      MutexLock lock(mutex);
      count_in(task);
      if (auto known = entries.find(task.spec.id); known != entries.end()) before = known->second;
      auto seen = dismissed.find(task.spec.id);
      if (seen != dismissed.end() && seen->second == task.state.last_sequence) {
        std::erase_if(needs, [](const TaskNeed& need) { return can_be_dismissed(need.kind); });
      }
      if (needs.empty()) return entries.erase(task.spec.id) != 0;
    }
    for (TaskNeed& need : needs) set_since(need, before);
    MutexLock lock(mutex);
    if (entries.size() >= kMaxInboxTasks && !entries.contains(task.spec.id)) return false;
    entries[task.spec.id] = needs;
    return !std::ranges::equal(needs, before, same);
  }

  void count_in(const Task& task) REQUIRES(mutex) {
    if (is_terminal(task.state.state)) {
      census.erase(task.spec.id);
    } else if (census.size() < kMaxInboxTasks || census.contains(task.spec.id)) {
      const std::string& model = task.spec.model.empty() ? task.state.model : task.spec.model;
      census[task.spec.id] = {task.state.state, task.spec.agent, model};
    }
  }

  // Sets the start of a need: an unchanged need keeps its time, and an approval's event has it.
  void set_since(TaskNeed& need, const std::vector<TaskNeed>& before) const {
    for (const TaskNeed& known : before) {
      bool asked = need.approval && known.approval && known.approval->id == need.approval->id;
      bool waits = need.kind == NeedKind::waiting && known.kind == NeedKind::waiting;
      if (!asked && !waits) continue;
      need.since_ms = known.since_ms;
      need.sequence = known.sequence;
      return;
    }
    if (!need.approval) return;
    auto page = journal.store().read(need.task, need.sequence - 1, {1, 1});
    if (!page || page->batches.empty() || need.sequence < page->batches.front()->first) return;
    const EventBatch& batch = *page->batches.front();
    auto event = parse_event(batch.event(static_cast<std::size_t>(need.sequence - batch.first)));
    if (event) need.since_ms = event->received_ms;
  }

  void tell() EXCLUDES(mutex) {
    std::function<void(std::size_t)> listener;
    std::size_t total = 0;
    {
      MutexLock lock(mutex);
      listener = changed;
      total = count();
    }
    if (listener) listener(total);
  }

  std::size_t count() const REQUIRES(mutex) {
    std::size_t total = 0;
    for (const auto& [task, needs] : entries) total += needs.size();
    return total;
  }

  // Stalled tasks with new events leave the inbox at once, not at the next sweep.
  void look_at_stalled() EXCLUDES(mutex) {
    std::map<std::string, std::uint64_t> stalled;
    {
      MutexLock lock(mutex);
      for (const auto& [task, needs] : entries) {
        if (needs.front().kind == NeedKind::stalled) stalled.emplace(task, needs.front().last_sequence);
      }
    }
    if (stalled.empty()) return;
    workers.post([self = shared_from_this(), stalled = std::move(stalled)] {
      std::vector<std::string> names;
      for (const auto& [task, last] : stalled) names.push_back(task);
      auto heads = self->journal.store().heads(names);
      if (!heads) return;
      std::set<std::string> awake;
      for (const auto& [task, last] : stalled) {
        auto head = heads->find(task);
        if (head == heads->end() || head->second != last) awake.insert(task);
      }
      if (!awake.empty()) self->look_at(std::move(awake), false);
    });
  }

  Journal& journal;
  Executor& executor;
  Executor& workers;
  const Clock& clock;
  const std::chrono::milliseconds stall;

  ChangedTasks feed{journal, "the inbox", steering_types(), [this](std::set<std::string> tasks, std::uint64_t through) {
                      take_names(std::move(tasks), through);
                    }};  // the executor owns this and the next member
  bool ended = false;

  Mutex mutex;
  std::map<std::string, std::vector<TaskNeed>> entries GUARDED_BY(mutex);  // of tasks that need a person
  std::map<std::string, TaskGroup> census GUARDED_BY(mutex);               // active tasks
  std::map<std::string, std::uint64_t> dismissed GUARDED_BY(mutex);        // the last sequence of their log then
  std::set<std::string> noted GUARDED_BY(mutex);                           // tasks to look at
  std::int64_t swept_ms GUARDED_BY(mutex) = 0;
  bool sweep GUARDED_BY(mutex) = false;     // look at all tasks
  bool complete GUARDED_BY(mutex) = false;  // all tasks have been looked at once
  bool looking GUARDED_BY(mutex) = false;
  bool stopped GUARDED_BY(mutex) = false;
  bool untold GUARDED_BY(mutex) = false;  // an entry disappeared that no look has reported
  std::function<void(std::size_t)> changed GUARDED_BY(mutex);
};

Inbox::Inbox(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Inbox::~Inbox() = default;

Result<std::unique_ptr<Inbox>> Inbox::open(Journal& journal, Executor& executor, Executor& workers, const Clock& clock,
                                           std::chrono::milliseconds stall) {
  auto heads = journal.store().heads({""});
  if (!heads) return fail(heads.error());
  auto records = journal.store().records(kDismissed);
  if (!records) return fail(records.error());
  auto impl = std::make_shared<Impl>(journal, executor, workers, clock, stall);
  {
    MutexLock lock(impl->mutex);
    for (const auto& [task, text] : *records) {
      std::uint64_t last = 0;
      std::from_chars(text.data(), text.data() + text.size(), last);
      impl->dismissed.emplace(task, last);
    }
    impl->swept_ms = clock.steady_ms();
  }
  executor.post([impl, after = (*heads)[""]] { impl->open_feed(after); });
  impl->look_at({}, true);
  return std::unique_ptr<Inbox>(new Inbox(std::move(impl)));
}

std::vector<TaskNeed> Inbox::needs(const std::string& task) const {
  std::vector<TaskNeed> found;
  {
    MutexLock lock(impl_->mutex);
    for (const auto& [id, needs] : impl_->entries) {
      if (task.empty() || id == task) found.insert(found.end(), needs.begin(), needs.end());
    }
  }
  std::ranges::sort(found, more_urgent);
  return found;
}

std::map<Inbox::TaskGroup, std::size_t> Inbox::active() const {
  std::map<TaskGroup, std::size_t> counts;
  MutexLock lock(impl_->mutex);
  for (const auto& [task, group] : impl_->census) ++counts[group];
  return counts;
}

void Inbox::created(const std::string& task) {
  impl_->look_at({task}, false);
}

std::size_t Inbox::size() const {
  MutexLock lock(impl_->mutex);
  return impl_->count();
}

void Inbox::dismiss(const std::string& task, Done<void> done) {
  std::uint64_t last = 0;
  {
    MutexLock lock(impl_->mutex);
    auto entry = impl_->entries.find(task);
    if (entry != impl_->entries.end() && can_be_dismissed(entry->second.front().kind)) {
      last = entry->second.front().last_sequence;
    }
  }
  if (last == 0) {
    return done(fail(ErrorCode::conflict, "nothing_to_dismiss",
                     "Task " + task + " has nothing in the inbox that can be dismissed: only stalled and failed can."));
  }
  impl_->journal.write([task, last](WriteTxn& txn) { return txn.put_record(kDismissed, task, std::to_string(last)); },
                       [impl = impl_, task, last, done = std::move(done)](Result<void> kept) mutable {
                         if (kept) {
                           MutexLock lock(impl->mutex);
                           impl->dismissed[task] = last;
                           impl->entries.erase(task);
                           impl->untold = true;
                         }
                         if (kept) impl->look_at({task}, false);
                         done(std::move(kept));
                       });
}

void Inbox::forget(const std::string& task) {
  bool was_dismissed = false;
  {
    MutexLock lock(impl_->mutex);
    was_dismissed = impl_->dismissed.erase(task) != 0;
  }
  if (was_dismissed) {
    impl_->journal.write([task](WriteTxn& txn) { return txn.put_record(kDismissed, task, ""); }, [](Result<void>) {});
  }
  impl_->look_at({task}, false);
}

void Inbox::on_change(std::function<void(std::size_t)> changed) {
  MutexLock lock(impl_->mutex);
  impl_->changed = std::move(changed);
}

void Inbox::tick() {
  bool due = false;
  {
    MutexLock lock(impl_->mutex);
    std::int64_t now_ms = impl_->clock.steady_ms();
    due = now_ms - impl_->swept_ms >= std::min(kInboxSweep, impl_->stall / 4).count();
    if (due) impl_->swept_ms = now_ms;
  }
  if (due) {
    impl_->look_at({}, true);
  } else {
    impl_->look_at_stalled();
  }
  impl_->executor.post([impl = impl_] { impl->feed.tick(impl->clock.steady_ms()); });
}

void Inbox::stop() {
  {
    MutexLock lock(impl_->mutex);
    impl_->stopped = true;
  }
  std::promise<void> ended;
  impl_->executor.post([impl = impl_, &ended] {
    impl->ended = true;
    impl->feed.close();
    ended.set_value();
  });
  ended.get_future().wait();
  for (;;) {
    {
      MutexLock lock(impl_->mutex);
      if (!impl_->looking) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace shepherd
