#include "journal/journal.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "journal/limits.h"
#include "journal/reorder.h"
#include "journal/writer.h"
#include "model/task_fold.h"

namespace shepherd {
namespace {

bool ends_its_task(const DraftBatch& batch) {
  return std::ranges::any_of(
      batch.drafts, [&](const Draft& draft) { return is_terminal(end_state_of(draft.type, batch.body(draft))); });
}

}  // namespace

struct Journal::Impl {
  Impl(EventStore& store_in, Hub& hub_in, Bus& bus_in, Executor& workers_in, const Clock& clock_in,
       MetricRegistry& metrics_in, bool threaded)
      : store(store_in),
        hub(hub_in),
        bus(bus_in),
        workers(workers_in),
        clock(clock_in),
        events(metrics_in.counter("shepherd_events_appended_total", "Events committed to logs")),
        batches(metrics_in.counter("shepherd_appends_total", "Append requests committed")),
        refused(metrics_in.counter("shepherd_appends_refused_total", "Append requests refused or failed")),
        feeds(metrics_in.counter("shepherd_feeds_opened_total", "Feeds opened")),
        reorder(clock_in, [this](AppendRequest request,
                                 Done<Appended> done) { submit_append(std::move(request), std::move(done)); }),
        writer(store_in,
               {.before_answers = [this](const CommitPtr& commit) { show(*commit); },
                .after_answers = [this](const CommitPtr& commit) { tell(commit); },
                .failed = [this](const Error& error) { may_lag = may_lag || retryable(error.code); }},
               metrics_in, threaded) {}

  template <class T>
  void submit(std::size_t bytes, std::move_only_function<Result<T>(WriteTxn&)> work, Done<T> done) {
    auto operation = std::make_unique<Operation<T>>(Atomicity::single, bytes, std::move(work), std::move(done));
    auto* raw = operation.get();
    std::unique_ptr<WriteOperation> taken = std::move(operation);
    Result<void> accepted = writer.submit(taken);
    if (!accepted) raw->done()(fail(accepted.error()));
  }

  void submit_append(AppendRequest request, Done<Appended> done);
  void show(const Commit& commit);
  void show_changes(const std::vector<Change>& changes);
  void tell(const CommitPtr& commit);
  void on_hint(const Hint& hint);
  std::vector<std::shared_ptr<FollowerCore>> all_followers() EXCLUDES(followers_mutex);
  void fill(const std::string& task, std::uint64_t head) EXCLUDES(fills_mutex);
  void read_on(const std::string& task) EXCLUDES(fills_mutex);
  void read_page(const std::string& task, std::uint64_t after, std::uint64_t wanted) EXCLUDES(fills_mutex);
  void sweep_heads();

  EventStore& store;
  Hub& hub;
  Bus& bus;
  Executor& workers;
  const Clock& clock;
  Counter& events;
  Counter& batches;
  Counter& refused;
  Counter& feeds;
  Hub::Wakes wakes;                  // owned by the writer: the waiters for its last commit
  std::atomic<bool> may_lag{false};  // a commit's outcome is unknown, so hub and followers may lack what is stored
  Mutex followers_mutex;
  std::vector<std::weak_ptr<FollowerCore>> followers GUARDED_BY(followers_mutex);
  std::vector<std::function<void()>> wakers;  // complete before the first change
  std::unique_ptr<Follower> deletions;        // of other replicas, for the hub
  std::atomic<std::int64_t> swept_ms{0};
  Mutex fills_mutex;
  std::map<std::string, std::uint64_t> fills GUARDED_BY(fills_mutex);  // logs that are read now -> the wanted head
  Subscription hints;
  Reorder reorder;
  Writer writer;  // last, because its destructor commits the queue
};

void Journal::Impl::submit_append(AppendRequest request, Done<Appended> done) {
  std::size_t bytes = request.drafts.bytes.size() + kSmallWriteBytes;
  for (const auto& draft : request.drafts.drafts) bytes += draft.detail.size();
  submit<Appended>(
      bytes, [request = std::move(request)](WriteTxn& txn) { return txn.append(request); },
      [this, done = std::move(done)](Result<Appended> appended) mutable {
        if (appended) {
          events.add(appended->added);
          batches.add();
        } else {
          refused.add();
        }
        done(std::move(appended));
      });
}

void Journal::Impl::show(const Commit& commit) {
  wakes = hub.take_in(commit.batches);
  show_changes(commit.changes);
}

void Journal::Impl::show_changes(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (change.kind == ChangeKind::task_deleted) hub.forget_deleted(change.name);
    if (change.kind == ChangeKind::events_dropped) hub.evict(change.name);
  }
}

std::vector<std::shared_ptr<FollowerCore>> Journal::Impl::all_followers() {
  std::vector<std::shared_ptr<FollowerCore>> living;
  MutexLock lock(followers_mutex);
  std::erase_if(followers, [&](const std::weak_ptr<FollowerCore>& each) {
    auto follower = each.lock();
    if (follower) living.push_back(std::move(follower));
    return each.expired();
  });
  return living;
}

void Journal::Impl::tell(const CommitPtr& commit) {
  Hub::wake(std::exchange(wakes, {}));
  for (const auto& follower : all_followers()) follower->offer(commit);
  for (const auto& wake : wakers) wake();
  std::uint64_t change = commit->through.change;
  for (const auto& stored : commit->batches) {
    bus.publish({stored->task, stored->last(), stored->last_position(), change});
  }
  if (commit->batches.empty() && !commit->changes.empty()) bus.publish({{}, 0, commit->through.position, change});
}

void Journal::Impl::on_hint(const Hint& hint) {
  if (!hint.task.empty()) fill(hint.task, hint.last);
  fill("", hint.last_position);
  for (const auto& follower : all_followers()) {
    if (follower->lags({hint.last_position, hint.change})) follower->look();
  }
  for (const auto& wake : wakers) wake();
}

// Brings a watched log's tail up to the store after another replica wrote. One read serves all its consumers, and one
// read of a log is under way at a time: hints that come meanwhile raise the head that it goes to.
void Journal::Impl::fill(const std::string& task, std::uint64_t head) {
  auto known = hub.head(task);
  if (!known || *known >= head) return;
  {
    MutexLock lock(fills_mutex);
    auto [at, first] = fills.try_emplace(task, head);
    at->second = std::max(at->second, head);
    if (!first) return;
  }
  read_on(task);
}

// By the one that entered the log into `fills`.
void Journal::Impl::read_on(const std::string& task) {
  auto known = hub.head(task);
  std::uint64_t wanted = 0;
  for (;;) {
    {
      MutexLock lock(fills_mutex);
      auto at = fills.find(task);
      SHEPHERD_ASSERT(at != fills.end(), "only the end of a read removes the log from the list");
      wanted = at->second;
      if (!known || *known >= wanted) {
        fills.erase(at);
        return;
      }
    }
    if (*known != 0 && wanted - *known <= kFeedReadEvents) break;
    hub.advance_head(task, wanted, {});
    known = wanted;
  }
  workers.post([this, task, after = *known, wanted] { read_page(task, after, wanted); });
}

void Journal::Impl::read_page(const std::string& task, std::uint64_t after, std::uint64_t wanted) {
  ReadLimit limit{kFeedReadEvents, kFeedReadBytes};
  auto page = task.empty() ? store.read_all(after, limit) : store.read(task, after, limit);
  std::uint64_t reached = 0;
  if (page) {
    if (!page->complete.empty() && !page->batches.empty() && page->batches.back()->last() == page->head) {
      auto last = std::make_shared<EventBatch>(*page->batches.back());
      last->complete = page->complete;
      page->batches.back() = std::move(last);
    }
    hub.publish_to(task, page->batches);
    reached = page->batches.empty() ? page->head
              : task.empty()        ? page->batches.back()->last_position()
                                    : page->batches.back()->last();
  }
  {
    MutexLock lock(fills_mutex);
    auto at = fills.find(task);
    // A hint can be wrong, so the store's end is the end, unless another hint came meanwhile. After a failure the next
    // sweep tries again.
    bool more = page && (at->second > wanted || reached < page->head);
    if (!more) {
      fills.erase(at);
      return;
    }
    at->second = std::max(at->second, page->head);
  }
  read_on(task);
}

void Journal::Impl::sweep_heads() {
  bool lag = may_lag.exchange(false);
  std::int64_t now_ms = clock.steady_ms();
  if (!lag && (!bus.connects_replicas() || now_ms - swept_ms < kHeadSweep.count())) return;
  swept_ms = now_ms;
  workers.post([this] {
    auto newest = store.newest_place();
    for (const auto& follower : all_followers()) {
      if (!newest || follower->lags(*newest)) follower->look();
    }
  });
  auto watched = hub.watched();
  if (watched.empty()) return;
  workers.post([this, watched = std::move(watched)] {
    auto heads = store.heads(watched);
    if (!heads) {
      may_lag = true;
      return;
    }
    for (const auto& [task, head] : *heads) fill(task, head);
  });
}

Journal::Journal(EventStore& store, Hub& hub, Bus& bus, Executor& workers, const Clock& clock, MetricRegistry& metrics,
                 bool threaded)
    : impl_(std::make_unique<Impl>(store, hub, bus, workers, clock, metrics, threaded)) {
  impl_->hints = bus.subscribe([impl = impl_.get()](const Hint& hint) { impl->on_hint(hint); });
  if (!bus.connects_replicas()) return;
  // What this process deletes is gone from the hub before the answer; this is for the others.
  FollowOptions options;
  options.name = "the hub";
  options.events = false;
  auto deletions = follow(std::move(options), workers, [impl = impl_.get()](News news, auto done) {
    impl->show_changes(news.changes);
    done(true);
  });
  if (deletions) impl_->deletions = std::move(*deletions);
}

Journal::~Journal() {
  impl_->hints = {};
  impl_->deletions.reset();
  impl_->reorder.flush();
}

Result<void> Journal::submit_or_keep(std::unique_ptr<WriteOperation>& operation) {
  return impl_->writer.submit(operation);
}

Result<std::unique_ptr<Follower>> Journal::follow(FollowOptions options, Executor& executor, OnNews on_news) {
  auto start = impl_->store.newest_place();
  if (!start) return fail(std::move(start.error()));
  bool stored = false;
  if (options.durable) {
    auto kept = impl_->store.record(kCursors, options.name);
    if (kept && kept->empty() && !options.old_cursor.empty()) {
      std::size_t slash = options.old_cursor.find('/');
      kept = impl_->store.record(options.old_cursor.substr(0, slash), options.old_cursor.substr(slash + 1));
    }
    if (!kept) return fail(std::move(kept.error()));
    if (auto place = decode_place(*kept); place && start->covers(*place)) {
      start = *place;
      stored = true;
    }
  }
  bool first = options.durable && !stored;
  auto core =
      std::make_shared<FollowerCore>(*this, executor, impl_->clock, std::move(options), std::move(on_news), *start);
  // Written before any later append, so that the next start after a crash cannot begin behind it.
  if (first) core->keep_cursor(*start);
  {
    MutexLock lock(impl_->followers_mutex);
    impl_->followers.push_back(core);
  }
  core->look();
  return std::make_unique<Follower>(std::move(core));
}

void Journal::append(AppendRequest request, Done<Appended> done) {
  if (request.producer.kind == ProducerKind::loose) return impl_->reorder.append(std::move(request), std::move(done));
  if (ends_its_task(request.drafts)) {
    // A strict producer and the server itself send the end only when it has come.
    bool may_wait = request.producer.kind == ProducerKind::none && !request.by_server;
    if (may_wait) return impl_->reorder.end(std::move(request), std::move(done));
    impl_->reorder.release(request.task);
  }
  impl_->submit_append(std::move(request), std::move(done));
}

void Journal::create_task(TaskSpec spec, std::string idempotency_key, Done<Created> done) {
  std::size_t bytes = spec.context.size() + spec.description.size() + kSmallWriteBytes;
  impl_->submit<Created>(
      bytes,
      [spec = std::move(spec), key = std::move(idempotency_key), now_ms = impl_->clock.wall_ms()](WriteTxn& txn) {
        return txn.create_task(spec, now_ms, key);
      },
      std::move(done));
}

void Journal::update_task(std::string task, std::function<Result<void>(TaskSpec&)> change, Done<Task> done) {
  write(
      [task = std::move(task), change = std::move(change)](WriteTxn& txn) -> Result<Task> {
        auto row = txn.task(task);
        if (!row) return fail(row.error());
        if (auto changed = change(row->spec); !changed) return fail(changed.error());
        return txn.update_task(row->spec);
      },
      std::move(done));
}

void Journal::delete_task(std::string task, Done<void> done) {
  write([task = std::move(task)](WriteTxn& txn) { return txn.delete_task(task); }, std::move(done));
}

void Journal::drop(std::map<std::string, std::uint64_t> through, Done<void> done) {
  write(
      [drops = std::move(through)](WriteTxn& txn) -> Result<void> {
        for (const auto& [task, last] : drops) {
          auto dropped = txn.drop_through(task, last);
          if (!dropped && dropped.error().code != ErrorCode::not_found) return dropped;  // deleted meanwhile: fine
        }
        return {};
      },
      std::move(done));
}

void Journal::on_change(std::function<void()> wake) {
  impl_->wakers.push_back(std::move(wake));
}

void Journal::publish_delta(const std::string& task, std::string data) {
  impl_->hub.publish_delta(task, data);
}

DeltaPlace Journal::delta_place(const std::string& task) {
  return newest_delta_place(impl_->hub, task);
}

std::unique_ptr<Feed> Journal::open_feed(FeedOptions options, FeedConsumer& consumer) {
  impl_->feeds.add();
  return std::make_unique<Feed>(impl_->store, impl_->hub, impl_->workers, std::move(options), consumer);
}

const EventStore& Journal::store() const {
  return impl_->store;
}

bool Journal::has_replicas() const {
  return impl_->bus.connects_replicas();
}

void Journal::tick() {
  impl_->reorder.tick();
  impl_->sweep_heads();
  for (const auto& follower : impl_->all_followers()) follower->tick();
  impl_->hub.age();
}

void Journal::drain() {
  impl_->reorder.flush();
  impl_->writer.drain();
}

bool Journal::step() {
  return impl_->writer.step();
}

}  // namespace shepherd
