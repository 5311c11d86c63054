#include "journal/follower.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "journal/journal.h"
#include "journal/limits.h"

namespace shepherd {
namespace {

// Collects news in order, so that the newest row of a task wins and one that is deleted later has none.
class Collected {
 public:
  explicit Collected(Place after) : after_(after) {}

  void add(const Change& change) {
    if (change.number <= after_.change) return;
    if (change.kind == ChangeKind::task_deleted) {
      news.deleted.push_back(change.name);
      rows_.erase(change.name);
    }
    news.changes.push_back(change);
  }
  void add(const BatchPtr& batch) {
    if (batch->last_position() > after_.position) news.batches.push_back(batch);
  }
  void add(RowPtr row) { rows_.insert_or_assign(row->spec.id, std::move(row)); }

  News take(Place through) {
    for (auto& [task, row] : rows_) news.rows.push_back(std::move(row));
    news.through = through;
    return std::move(news);
  }

  News news;

 private:
  const Place after_;
  std::map<std::string, RowPtr> rows_;
};

}  // namespace

TypeFilter steering_types() {
  TypeFilter types;
  types.known = mask_of(EventType::command) | mask_of(EventType::command_result) | mask_of(EventType::approval) |
                mask_of(EventType::status);
  return types;
}

FollowerCore::FollowerCore(Journal& journal, Executor& executor, const Clock& clock, FollowOptions options,
                           OnNews on_news, Place start)
    : journal_(journal),
      executor_(executor),
      clock_(clock),
      options_(std::move(options)),
      on_news_(std::move(on_news)),
      mask_(options_.types.known),
      place_(start),
      kept_(start),
      kept_ms_(clock.steady_ms()) {
  SHEPHERD_ASSERT(options_.types.unknown.empty(), "the server follows types that it knows");
}

bool FollowerCore::wants(const EventBatch& batch) const {
  if (!options_.events) return false;
  return mask_ == 0 || std::ranges::any_of(batch.types, [&](EventType type) { return (mask_of(type) & mask_) != 0; });
}

bool FollowerCore::wants(const Commit& commit) const {
  return !commit.changes.empty() ||
         std::ranges::any_of(commit.batches, [&](const BatchPtr& batch) { return wants(*batch); });
}

void FollowerCore::offer(const std::shared_ptr<const Commit>& commit) {
  std::vector<Work> reached;
  {
    MutexLock lock(mutex_);
    if (stopped_ || behind_) return;
    // While something is handed on, finished() finds out whether this one follows it.
    bool follows =
        commits_.empty() ? handing_ || place_.covers(commit->before) : commits_.back()->through.covers(commit->before);
    if (!active_ && follows && (paused_ || (commits_.empty() && !wants(*commit)))) {
      if (!place_.covers(commit->through)) place_ = commit->through;
      if (waiting_.empty()) return;
      reached = take_reached();
    } else if (follows && commits_.size() < kMaxFollowerCommits) {
      commits_.push_back(commit);
    } else {
      behind_ = true;  // another process wrote in between, or the owner is slow
      commits_.clear();
    }
  }
  post_all(std::move(reached));
  wake();
}

void FollowerCore::after(Place place, Work work) {
  std::vector<Work> reached;
  {
    MutexLock lock(mutex_);
    if (stopped_ || place_.covers(place)) {
      reached.push_back(std::move(work));
    } else {
      waiting_.push_back({place, std::move(work)});
      // Another process may have written it, so nothing is offered here.
      if (commits_.empty() || !commits_.back()->through.covers(place)) {
        behind_ = true;
        commits_.clear();
      }
    }
  }
  post_all(std::move(reached));
  wake();
}

std::vector<Work> FollowerCore::take_reached() {
  std::vector<Work> reached;
  std::vector<Waiting> left;
  for (Waiting& each : waiting_) {
    bool over = stopped_ || broken_ || place_.covers(each.place);
    if (over) {
      reached.push_back(std::move(each.work));
    } else {
      left.push_back(std::move(each));
    }
  }
  waiting_ = std::move(left);
  return reached;
}

void FollowerCore::post_all(std::vector<Work> works) {
  for (Work& work : works) executor_.post(std::move(work));
}

void FollowerCore::look() {
  {
    MutexLock lock(mutex_);
    behind_ = true;
    commits_.clear();
  }
  wake();
}

void FollowerCore::wake() {
  {
    MutexLock lock(mutex_);
    if (active_ || broken_ || paused_ || stopped_) return;
    active_ = true;
  }
  executor_.post([self = shared_from_this()] { self->run(); });
}

void FollowerCore::run() {
  std::deque<std::shared_ptr<const Commit>> commits;
  Place after;
  std::uint64_t resumed = 0;
  bool read = false;
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(active_, "one call at a time");
    if (stopped_ || paused_ || (!behind_ && commits_.empty())) {
      active_ = false;
      return;
    }
    handing_ = true;
    after = place_;
    resumed = resumed_;
    read = behind_;
    // Commits from now on are kept; what the page below has of them, too, is skipped then.
    behind_ = false;
    commits.swap(commits_);
  }
  if (!read) return hand_on(from_commits(std::move(commits), after), resumed);
  auto found = from_store(after);
  if (!found) {
    log_warn("{} cannot read what changed: {}", options_.name, found.error().message);
    return finished(after, resumed, false);
  }
  if (found->more) {
    MutexLock lock(mutex_);
    behind_ = true;
    commits_.clear();
  }
  hand_on(std::move(found->news), resumed);
}

void FollowerCore::hand_on(News news, std::uint64_t resumed) {
  Place through = news.through;
  bool empty = news.batches.empty() && news.changes.empty() && !news.restarted;
  if (empty) return finished(through, resumed, true);
  on_news_(std::move(news),
           [self = shared_from_this(), through, resumed](bool handled) { self->finished(through, resumed, handled); });
}

void FollowerCore::finished(Place through, std::uint64_t resumed, bool handled) {
  bool stopped = false;
  std::vector<Work> reached;
  {
    MutexLock lock(mutex_);
    if (handled) {
      if (resumed == resumed_) place_ = through;
      while (!commits_.empty() && place_.covers(commits_.front()->through)) commits_.pop_front();
      if (!commits_.empty() && !place_.covers(commits_.front()->before)) {
        behind_ = true;  // the page was full, and the commits continue after a hole
        commits_.clear();
      }
    } else {
      broken_ = true;
      behind_ = true;
      commits_.clear();
    }
    stopped = stopped_ || broken_;
    if (stopped) active_ = false;
    handing_ = false;
    if (!waiting_.empty()) reached = take_reached();
    idle_.notify_all();
  }
  post_all(std::move(reached));
  if (!stopped) executor_.post([self = shared_from_this()] { self->run(); });
}

News FollowerCore::from_commits(std::deque<std::shared_ptr<const Commit>> commits, Place after) const {
  Collected collected(after);
  for (const auto& commit : commits) {
    std::set<std::string_view> wanted;
    for (const BatchPtr& batch : commit->batches) {
      if (!wants(*batch)) continue;
      collected.add(batch);
      wanted.insert(batch->task);
    }
    for (const Change& change : commit->changes) {
      collected.add(change);
      if (is_of_task(change.kind)) wanted.insert(change.name);
    }
    for (const RowPtr& row : commit->rows) {
      if (wanted.contains(row->spec.id)) collected.add(row);
    }
  }
  return collected.take(commits.back()->through);
}

Result<FollowerCore::Read> FollowerCore::from_store(Place after) const {
  const EventStore& store = journal_.store();
  auto page = store.changes(after, {kFeedReadEvents, kFeedReadBytes});
  if (!page) return fail(std::move(page.error()));
  Collected collected(after);
  std::set<std::string> tasks;
  for (const BatchPtr& batch : page->batches) {
    if (!wants(*batch)) continue;
    collected.add(batch);
    tasks.insert(batch->task);
  }
  for (const Change& change : page->changes) {
    collected.add(change);
    if (is_of_task(change.kind)) tasks.insert(change.name);
  }
  for (const std::string& task : tasks) {
    auto row = store.row(task);
    if (row) {
      collected.add(std::make_shared<TaskRow>(std::move(*row)));
    } else if (row.error().code != ErrorCode::not_found) {
      return fail(std::move(row.error()));
    }  // deleted: the stream says so, here or later
  }
  collected.news.restarted = page->lost;
  return Read{collected.take(page->through), !page->through.covers(page->newest)};
}

bool FollowerCore::lags(Place newest) const {
  MutexLock lock(mutex_);
  return !place_.covers(newest);
}

void FollowerCore::pause() {
  MutexLock lock(mutex_);
  paused_ = true;
}

void FollowerCore::resume(Place from) {
  {
    MutexLock lock(mutex_);
    if (!std::exchange(paused_, false)) return;
    ++resumed_;
    place_ = from;
    behind_ = true;
    commits_.clear();
  }
  wake();
}

void FollowerCore::tick() {
  std::optional<Place> keep;
  bool again = false;
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    again = std::exchange(broken_, false);
    std::int64_t now_ms = clock_.steady_ms();
    if (options_.durable && kept_ != place_ && now_ms - kept_ms_ >= kCursorInterval.count()) {
      keep = kept_ = place_;
      kept_ms_ = now_ms;
    }
  }
  if (keep) keep_cursor(*keep);
  if (again) wake();
}

void FollowerCore::keep_cursor(Place place) {
  journal_.write([name = options_.name, place](WriteTxn& txn) { return txn.keep_cursor(name, encode_place(place)); },
                 [self = shared_from_this()](Result<void> kept) {
                   if (kept) return;
                   // An older cursor only means that the same news come again, but without any the next start would
                   // skip what came before it. So a tick tries again.
                   log_warn("{} could not keep its place: {}", self->options_.name, kept.error().message);
                   MutexLock lock(self->mutex_);
                   self->kept_ = {};
                 });
}

void FollowerCore::stop() {
  std::optional<Place> keep;
  std::vector<Work> reached;
  {
    MutexLock lock(mutex_);
    bool first = !std::exchange(stopped_, true);
    while (handing_) idle_.wait(mutex_);
    reached = take_reached();
    commits_.clear();
    if (first && options_.durable && kept_ != place_) keep = kept_ = place_;
  }
  post_all(std::move(reached));
  if (keep) keep_cursor(*keep);
}

Place FollowerCore::place() const {
  MutexLock lock(mutex_);
  return place_;
}

}  // namespace shepherd
