#include "journal/journal.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "journal/limits.h"
#include "journal/reorder.h"
#include "model/task_fold.h"

namespace shepherd {
namespace {

// One write that returns a T: the work inside the transaction, and its callback.
template <class T>
class Operation final : public WriteOperation {
 public:
  Operation(std::size_t bytes, std::move_only_function<Result<T>(WriteTxn&)> work, Done<T> done)
      : bytes_(bytes), work_(std::move(work)), done_(std::move(done)) {}

  void run(WriteTxn& txn) override { result_ = work_(txn); }
  void committed() override {
    SHEPHERD_ASSERT(result_.has_value(), "what was committed has run");
    done_(std::move(*result_));
  }
  // A refusal inside the transaction stands; a success becomes a failure, because nothing was stored.
  void failed(const Error& error) override {
    bool refused = result_ && !*result_;
    done_(refused ? std::move(*result_) : Result<T>(fail(error)));
  }
  std::size_t bytes() const override { return bytes_; }
  Done<T>& done() { return done_; }

 private:
  std::size_t bytes_;
  std::move_only_function<Result<T>(WriteTxn&)> work_;
  Done<T> done_;
  std::optional<Result<T>> result_;  // empty if it did not run
};

constexpr std::size_t kSmallWriteBytes = 512;

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
               {.before_answers = [this](const Commit& commit) { wakes = hub.take_in(commit.batches); },
                .after_answers = [this](const Commit& commit) { tell(commit); }},
               metrics_in, threaded) {}

  template <class T>
  void submit(std::size_t bytes, std::move_only_function<Result<T>(WriteTxn&)> work, Done<T> done) {
    auto operation = std::make_unique<Operation<T>>(bytes, std::move(work), std::move(done));
    auto* raw = operation.get();
    Result<void> accepted = writer.submit_or_keep(operation);
    if (!accepted) raw->done()(fail(accepted.error()));
  }

  void submit_append(AppendRequest request, Done<Appended> done);
  void tell(const Commit& commit);
  void on_hint(const Hint& hint);
  void fill(const std::string& task, std::uint64_t head);
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
  Hub::Wakes wakes;                      // owned by the writer: the waiters for its last commit
  std::atomic<bool> hub_may_lag{false};  // a commit's outcome is unknown, so the hub may lack stored events
  std::atomic<std::int64_t> swept_ms{0};
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
          if (retryable(appended.error().code)) hub_may_lag = true;
        }
        done(std::move(appended));
      });
}

void Journal::Impl::tell(const Commit& commit) {
  Hub::wake(std::exchange(wakes, {}));
  for (const auto& stored : commit.batches) bus.publish({stored->task, stored->last(), stored->last_position()});
}

void Journal::Impl::on_hint(const Hint& hint) {
  fill(hint.task, hint.last);
  fill("", hint.last_position);
}

// Brings a watched log's tail up to the store after another replica wrote. One read serves all its consumers.
void Journal::Impl::fill(const std::string& task, std::uint64_t head) {
  auto known = hub.head(task);
  if (!known || *known >= head) return;
  if (*known == 0 || head - *known > kFeedReadEvents) {
    hub.advance_head(task, head, {});
    return;
  }
  workers.post([this, task, after = *known] {
    ReadLimit limit{kFeedReadEvents, kFeedReadBytes};
    auto page = task.empty() ? store.read_all(after, limit) : store.read(task, after, limit);
    if (!page) return;  // the next sweep tries again
    if (!page->complete.empty() && !page->batches.empty() && page->batches.back()->last() == page->head) {
      auto last = std::make_shared<EventBatch>(*page->batches.back());
      last->complete = page->complete;
      page->batches.back() = std::move(last);
    }
    hub.publish_to(task, page->batches);
    std::uint64_t reached = page->batches.empty() ? page->head
                            : task.empty()        ? page->batches.back()->last_position()
                                                  : page->batches.back()->last();
    if (reached < page->head) fill(task, page->head);
  });
}

void Journal::Impl::sweep_heads() {
  bool lag = hub_may_lag.exchange(false);
  std::int64_t now_ms = clock.steady_ms();
  if (!lag && (!bus.connects_replicas() || now_ms - swept_ms < kHeadSweep.count())) return;
  swept_ms = now_ms;
  auto watched = hub.watched();
  if (watched.empty()) return;
  workers.post([this, watched = std::move(watched)] {
    auto heads = store.heads(watched);
    if (!heads) {
      hub_may_lag = true;
      return;
    }
    for (const auto& [task, head] : *heads) fill(task, head);
  });
}

Journal::Journal(EventStore& store, Hub& hub, Bus& bus, Executor& workers, const Clock& clock, MetricRegistry& metrics,
                 bool threaded)
    : impl_(std::make_unique<Impl>(store, hub, bus, workers, clock, metrics, threaded)) {
  bus.subscribe([impl = impl_.get()](const Hint& hint) { impl->on_hint(hint); });
}

Journal::~Journal() {
  impl_->reorder.flush();
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
  impl_->submit<Task>(
      kSmallWriteBytes,
      [task = std::move(task), change = std::move(change)](WriteTxn& txn) -> Result<Task> {
        auto row = txn.task(task);
        if (!row) return fail(row.error());
        if (auto changed = change(row->spec); !changed) return fail(changed.error());
        return txn.update_task(row->spec);
      },
      std::move(done));
}

void Journal::delete_task(std::string task, Done<void> done) {
  impl_->submit<void>(
      kSmallWriteBytes, [task](WriteTxn& txn) { return txn.delete_task(task); },
      [this, task, done = std::move(done)](Result<void> deleted) mutable {
        if (deleted) impl_->hub.forget_deleted(task);
        done(std::move(deleted));
      });
}

void Journal::drop(std::map<std::string, std::uint64_t> through, Done<void> done) {
  auto drops = std::make_shared<const std::map<std::string, std::uint64_t>>(std::move(through));
  impl_->submit<void>(
      kSmallWriteBytes,
      [drops](WriteTxn& txn) -> Result<void> {
        for (const auto& [task, last] : *drops) {
          auto dropped = txn.drop_through(task, last);
          if (!dropped && dropped.error().code != ErrorCode::not_found) return dropped;  // deleted meanwhile: fine
        }
        return {};
      },
      [this, drops, done = std::move(done)](Result<void> dropped) mutable {
        if (dropped) {
          for (const auto& [task, last] : *drops) impl_->hub.evict(task);
        }
        done(std::move(dropped));
      });
}

void Journal::write(std::function<Result<void>(WriteTxn&)> operation, Done<void> done) {
  impl_->submit<void>(kSmallWriteBytes, std::move(operation), std::move(done));
}

void Journal::publish_delta(const std::string& task, std::string data) {
  impl_->hub.publish_delta(task, data);
}

std::unique_ptr<Feed> Journal::open_feed(FeedOptions options, FeedConsumer& consumer) {
  impl_->feeds.add();
  return std::make_unique<Feed>(impl_->store, impl_->hub, impl_->workers, std::move(options), consumer);
}

const EventStore& Journal::store() const {
  return impl_->store;
}

void Journal::tick() {
  impl_->reorder.tick();
  impl_->sweep_heads();
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
