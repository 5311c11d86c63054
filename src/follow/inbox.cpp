#include "follow/inbox.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/drain.h"
#include "base/log.h"
#include "base/mutex.h"
#include "follow/limits.h"
#include "model/wire_json.h"
#include "store/task_match.h"

namespace shepherd {
namespace {

constexpr const char* kDismissed = "inbox_dismissed";  // records: task -> last sequence of its log at the dismissal

std::uint64_t sequence_in(const std::string& text) {
  std::uint64_t last = 0;
  std::from_chars(text.data(), text.data() + text.size(), last);
  return last;
}

bool same(const TaskNeed& a, const TaskNeed& b) {
  auto approval = [](const TaskNeed& need) { return need.approval ? need.approval->id : std::string(); };
  return a.kind == b.kind && a.sequence == b.sequence && a.summary == b.summary && a.title == b.title &&
         approval(a) == approval(b);
}

}  // namespace

struct Inbox::Impl final : std::enable_shared_from_this<Impl> {
  Impl(Journal& the_journal, Executor& the_workers, const Clock& the_clock, std::chrono::milliseconds the_stall)
      : journal(the_journal), workers(the_workers), clock(the_clock), stall(the_stall) {}

  // What the next look is for.
  struct Look {
    std::optional<News> news{};
    std::move_only_function<void(bool)> done{};  // for the news
    bool all = false;
    bool stalled = false;
    bool empty() const { return !news && !all && !stalled; }
  };

  // --- on any thread ---

  // One worker at a time looks, so that an old row never replaces a newer one.
  void want(Look look) EXCLUDES(mutex) {
    std::optional<Drain::Pass> pass;
    {
      MutexLock lock(mutex);
      if (stopped) return;
      next.all = next.all || look.all;
      next.stalled = next.stalled || look.stalled;
      if (look.news) {
        next.news = std::move(look.news);
        next.done = std::move(look.done);
      }
      if (std::exchange(looking, true)) return;
      pass.emplace(looks);
    }
    workers.post([self = shared_from_this(), pass = std::move(*pass)] { self->look(); });
  }

  bool has_stalled() EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return std::ranges::any_of(entries,
                               [](const auto& entry) { return entry.second.front().kind == NeedKind::stalled; });
  }

  // --- on a worker thread ---

  void look() EXCLUDES(mutex) {
    for (;;) {
      Look now;
      {
        MutexLock lock(mutex);
        now = std::exchange(next, {});
        if (now.empty()) {
          looking = false;
          return;
        }
      }
      bool restarted = now.news && now.news->restarted;
      if (restarted && !reload_dismissals()) {
        now.done(false);
        continue;
      }
      bool news = now.news && take_news(*now.news);
      if (now.all || restarted) {
        news = look_at_all() || news;
      } else if (now.stalled) {
        news = look_at_stalled() || news;
      }
      if (news) tell();
      if (now.done) now.done(true);
    }
  }

  bool take_news(const News& news) EXCLUDES(mutex) {
    bool changed_now = false;
    for (const std::string& task : news.deleted) changed_now = remove(task) || changed_now;
    for (const Change& change : news.changes) {
      if (change.kind != ChangeKind::record_changed || change.name != kDismissed) continue;
      take_dismissal(change.key);
      changed_now = true;
    }
    for (const RowPtr& row : news.rows) changed_now = take(*row) || changed_now;
    return changed_now;
  }

  // A task that was dismissed here or on another replica has nothing in the inbox until its next event.
  void take_dismissal(const std::string& task) EXCLUDES(mutex) {
    auto value = journal.store().record(kDismissed, task);
    if (!value) return;  // the next start reads it
    {
      MutexLock lock(mutex);
      dismissed.erase(task);
      if (!value->empty()) dismissed.emplace(task, sequence_in(*value));
    }
    look_at_task(task);
  }

  // Changes were lost, so another replica may have dismissed any task. Returns false if the store could not be read.
  bool reload_dismissals() EXCLUDES(mutex) {
    auto records = journal.store().records(kDismissed);
    if (!records) return false;
    MutexLock lock(mutex);
    take_dismissals(*records);
    return true;
  }

  void take_dismissals(const std::map<std::string, std::string>& records) REQUIRES(mutex) {
    dismissed.clear();
    for (const auto& [task, text] : records) dismissed.emplace(task, sequence_in(text));
  }

  bool remove(const std::string& task) EXCLUDES(mutex) {
    bool forget = false;
    bool listed = false;
    {
      MutexLock lock(mutex);
      forget = dismissed.erase(task) != 0;
      census.erase(task);
      listed = entries.erase(task) != 0;
    }
    if (forget) {
      journal.write([task](WriteTxn& txn) { return txn.put_record(kDismissed, task, ""); }, [](Result<void>) {});
    }
    return listed;
  }

  bool look_at_task(const std::string& id) EXCLUDES(mutex) {
    auto task = journal.store().row(id);
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
        auto page = journal.store().rows(filter);
        read = read && page.has_value();
        if (!page) break;
        for (const TaskRow& task : *page) {
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
  bool take(const TaskRow& task) EXCLUDES(mutex) {
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

  void count_in(const TaskRow& task) REQUIRES(mutex) {
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
  bool look_at_stalled() EXCLUDES(mutex) {
    std::map<std::string, std::uint64_t> stalled;
    {
      MutexLock lock(mutex);
      for (const auto& [task, needs] : entries) {
        if (needs.front().kind == NeedKind::stalled) stalled.emplace(task, needs.front().last_sequence);
      }
    }
    std::vector<std::string> names;
    names.reserve(stalled.size());
    for (const auto& [task, last] : stalled) names.push_back(task);
    auto heads = journal.store().heads(names);
    if (!heads) return false;
    bool news = false;
    for (const auto& [task, last] : stalled) {
      auto head = heads->find(task);
      if (head == heads->end() || head->second != last) news = look_at_task(task) || news;
    }
    return news;
  }

  Journal& journal;
  Executor& workers;
  const Clock& clock;
  const std::chrono::milliseconds stall;
  std::unique_ptr<Follower> follower;

  Mutex mutex;
  std::map<std::string, std::vector<TaskNeed>> entries GUARDED_BY(mutex);  // of tasks that need a person
  std::map<std::string, TaskGroup> census GUARDED_BY(mutex);               // active tasks
  std::map<std::string, std::uint64_t> dismissed GUARDED_BY(mutex);        // the last sequence of their log then
  std::int64_t swept_ms GUARDED_BY(mutex) = 0;
  Look next GUARDED_BY(mutex);
  bool looking GUARDED_BY(mutex) = false;
  Drain looks;
  bool complete GUARDED_BY(mutex) = false;  // all tasks have been looked at once
  bool stopped GUARDED_BY(mutex) = false;
  std::function<void(std::size_t)> changed GUARDED_BY(mutex);
};

Inbox::Inbox(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Inbox::~Inbox() = default;

Result<std::unique_ptr<Inbox>> Inbox::open(Journal& journal, Executor& workers, const Clock& clock,
                                           std::chrono::milliseconds stall) {
  auto records = journal.store().records(kDismissed);
  if (!records) return fail(records.error());
  auto impl = std::make_shared<Impl>(journal, workers, clock, stall);
  {
    MutexLock lock(impl->mutex);
    impl->take_dismissals(*records);
    impl->swept_ms = clock.steady_ms();
  }
  FollowOptions options;
  options.name = "the inbox";
  options.types = steering_types();
  auto follower = journal.follow(std::move(options), workers, [raw = impl.get()](News news, auto done) {
    raw->want({.news = std::move(news), .done = std::move(done)});
  });
  if (!follower) return fail(follower.error());
  impl->follower = std::move(*follower);
  impl->want({.all = true});
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
                         if (kept) {  // at once for the caller; the followers on every replica find it, too
                           MutexLock lock(impl->mutex);
                           impl->dismissed[task] = last;
                           impl->entries.erase(task);
                         }
                         done(std::move(kept));
                       });
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
    impl_->want({.all = true});
  } else if (impl_->has_stalled()) {
    impl_->want({.stalled = true});
  }
}

void Inbox::stop() {
  impl_->follower->stop();
  {
    MutexLock lock(impl_->mutex);
    impl_->stopped = true;
  }
  impl_->looks.wait();
}

}  // namespace shepherd
