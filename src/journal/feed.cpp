#include "journal/feed.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/limits.h"
#include "journal/limits.h"
#include "model/wire_json.h"

namespace shepherd {

Feed::Feed(const EventStore& store, Hub& hub, Executor& workers, FeedOptions options, FeedConsumer& consumer)
    : store_(store),
      hub_(hub),
      workers_(workers),
      executor_(*options.executor),
      encoder_(*options.encoder),
      consumer_(consumer),
      // Taken before any read of the store: later commits are in the tail, so no event falls in between.
      tail_(hub.tail(options.task)),
      after_(options.after),
      announced_(options.after),
      deltas_(options.deltas) {
  Selection selection{std::move(options.types), std::move(options.tasks)};
  if (!selection.everything()) selection_ = std::make_shared<const Selection>(std::move(selection));
  if (!deltas_) return;
  DeltaPlace place =
      options.deltas_from.reader ? std::move(options.deltas_from) : newest_delta_place(hub, options.task);
  delta_seen_ = place.after;
  delta_reader_ = std::move(place.reader);
}

DeltaPlace newest_delta_place(Hub& hub, const std::string& task) {
  std::shared_ptr<Tail> tail = hub.tail(task);
  tail->add_delta_reader();
  Tail* read = tail.get();
  return {hub.newest_delta(),
          std::shared_ptr<void>(read, [tail = std::move(tail)](void*) { tail->remove_delta_reader(); })};
}

Feed::~Feed() {
  tail_->leave(*this);
  if (alive_) *alive_ = nullptr;
}

void Feed::next() {
  SHEPHERD_ASSERT(!wanted_, "one next() at a time");
  if (ended_) return;
  wanted_ = true;
  quick_ = delivering_;
  if (!reading_) advance();
}

void Feed::on_wake() {
  std::uint64_t passed = tail_->passed(*this);
  if (passed > after_) {
    skipped_ += static_cast<std::size_t>(passed - after_);
    after_ = passed;
  }
  if (wanted_ && !reading_) advance();
}

void Feed::set_tasks(std::optional<std::set<std::string>> tasks) {
  // Events that were already skipped stay skipped: the new filter applies from now on.
  std::uint64_t passed = tail_->passed(*this);
  if (passed > after_) after_ = passed;
  tail_->leave(*this);
  Selection selection;
  if (selection_) selection.types = selection_->types;
  selection.tasks = std::move(tasks);
  selection_ = selection.everything() ? nullptr : std::make_shared<const Selection>(std::move(selection));
  if (wanted_ && !reading_) advance();
}

void Feed::advance() {
  for (;;) {
    FrameBatch batch;
    PullRequest request{&encoder_, after_, selection(), deltas_ ? &delta_seen_ : nullptr, kFeedReadBytes};
    TailWaiter* waiter = caught_up_ ? this : nullptr;
    Pull pull = tail_->pull(request, batch.spans, waiter, &executor_);
    switch (pull.what) {
      case Pull::What::behind:
        read_store();
        return;
      case Pull::What::gone:
        end_with({ErrorCode::not_found, "task_deleted", "the task was deleted", {}});
        return;
      case Pull::What::nothing:
      case Pull::What::frames:
        break;
    }
    SHEPHERD_ASSERT(pull.number >= after_, "a cursor never goes back");
    after_ = pull.number;
    batch.events = pull.events;
    count_skipped(pull.skipped, batch);
    bool says_more = pull.at_end && (!caught_up_ || !pull.complete.empty());
    if (batch.spans.empty() && !says_more) {
      if (pull.at_end) return;  // waiting
      continue;                 // a stretch without a matching event
    }
    // A position is due without an event, but the pull has registered this feed as waiting, which it may be only on
    // request.
    if (pull.what == Pull::What::nothing) tail_->leave(*this);
    deliver(batch, pull.at_end, pull.complete);
    return;
  }
}

void Feed::deliver(FrameBatch& batch, bool at_end, const std::string& complete) {
  std::string after_events;
  if (at_end && !caught_up_) {
    caught_up_ = true;
    encoder_.caught_up(after_events, tail_->task(), after_);
  }
  if (at_end && !complete.empty() && !tail_->all()) {
    encoder_.complete(after_events, tail_->task(), complete, after_);
    batch.end = true;
    ended_ = true;
  }
  if (!after_events.empty()) batch.spans.push_back(own_bytes(std::move(after_events)));
  if (batch.events > 0 || batch.end) announced_ = after_;
  batch.number = after_;
  wanted_ = false;
  consumer_.on_frames(std::move(batch));
}

void Feed::count_skipped(std::size_t skipped, FrameBatch& batch) {
  skipped_ += skipped;
  if (skipped_ < kPositionEvery) return;
  skipped_ = 0;
  announced_ = after_;
  std::string bytes;
  encoder_.position(bytes, tail_->task(), after_);
  batch.spans.push_back(own_bytes(std::move(bytes)));
}

void Feed::tick(std::int64_t steady_ms) {
  if (selection_ == nullptr || !wanted_ || reading_) return;
  if (steady_ms - position_ms_ < kPositionInterval.count()) return;
  position_ms_ = steady_ms;
  std::uint64_t passed = std::max(after_, tail_->passed(*this));
  if (passed <= announced_) return;
  tail_->leave(*this);
  after_ = passed;
  announced_ = passed;
  skipped_ = 0;
  FrameBatch batch;
  std::string bytes;
  encoder_.position(bytes, tail_->task(), passed);
  batch.spans.push_back(own_bytes(std::move(bytes)));
  batch.number = after_;
  wanted_ = false;
  consumer_.on_frames(std::move(batch));
}

// --- the store side ---

Feed::StorePage Feed::read_page(const EventStore& store, const std::string& task, std::uint64_t after,
                                const Selection* selection, const FrameEncoder& encoder) {
  StorePage out;
  bool all = task.empty();
  ReadLimit limit{kFeedReadEvents, kFeedReadBytes};
  auto page = all ? store.read_all(after, limit) : store.read(task, after, limit);
  if (!page) {
    out.outcome = fail(page.error());
    return out;
  }
  out.head = page->head;
  out.complete = std::move(page->complete);
  out.number = after;
  // Events that retention or a deletion removed are announced, not skipped. In one task's log they are always the
  // beginning.
  auto skip_to = [&](std::uint64_t next) {
    if (next <= out.number + 1) return;
    encoder.gap(out.bytes, task, out.number + 1, next - 1);
    out.number = next - 1;
  };
  if (page->batches.empty()) skip_to(page->head + 1);
  // A batch may be larger than one consumer should hold; the rest of it is read again.
  std::size_t read_bytes = 0;
  for (const auto& stored : page->batches) read_bytes += stored->bytes.size();
  out.bytes.reserve(std::min(read_bytes + read_bytes / 4, kFeedReadBytes) + kKiB);
  for (const auto& stored : page->batches) {
    if (out.bytes.size() >= kFeedReadBytes) break;
    std::uint64_t first = all ? stored->position : stored->first;
    skip_to(first);
    bool task_wanted = selection == nullptr || selection->takes_task(stored->task);
    for (std::size_t i = 0; i < stored->size(); ++i) {
      if (first + i <= out.number) continue;
      if (out.bytes.size() >= kFeedReadBytes) break;
      out.number = first + i;
      bool wanted = task_wanted && (selection == nullptr || selection->takes_event(*stored, i));
      if (wanted) {
        encoder.event(out.bytes, *stored, i);
        ++out.events;
      } else {
        ++out.skipped;
      }
      if (all && task_wanted && ends_task(*stored, i)) {
        std::string complete = stored->complete;
        if (complete.empty()) {
          if (auto row = store.row(stored->task)) complete = complete_data(stored->task, row->state);
        }
        if (!complete.empty()) encoder.complete(out.bytes, stored->task, complete, first + i);
      }
    }
  }
  return out;
}

void Feed::read_store() {
  reading_ = true;
  if (!alive_) alive_ = std::make_shared<Feed*>(this);
  workers_.post([&store = store_, &executor = executor_, &encoder = encoder_, alive = alive_, selection = selection_,
                 tail = tail_, after = after_]() mutable {
    auto page = read_page(store, tail->task(), after, selection.get(), encoder);
    executor.post([alive = std::move(alive), page = std::move(page), selection = std::move(selection)]() mutable {
      if (*alive == nullptr) return;
      Feed& feed = **alive;
      if (feed.selection_ == selection) return feed.on_page(std::move(page));
      // Set while the page was read, which lacks events of the tasks that are chosen now.
      feed.reading_ = false;
      if (feed.wanted_) feed.advance();
    });
  });
}

void Feed::end_with(const Error& error) {
  ended_ = true;
  wanted_ = false;
  consumer_.on_feed_error(error);
}

void Feed::on_page(StorePage&& page) {
  reading_ = false;
  // A consumer that stalled after the read-ahead gets the page read again on demand, because keeping it would hold
  // memory.
  if (!wanted_) return;
  if (!page.outcome) return end_with(page.outcome.error());
  // The log is shorter than the consumer's cursor (deleted and created again, or an older backup), so fail instead of
  // guessing.
  if (page.head < after_) return end_with({ErrorCode::conflict, "cursor_ahead", "the log ends before this cursor", {}});
  if (page.number <= after_ && page.head > after_) {
    return end_with({ErrorCode::internal, "log_hole", "the store has a hole in this log; run `shepherd doctor`", {}});
  }
  after_ = page.number;
  bool at_end = after_ >= page.head;
  // A tail without a publication since its creation lacks the end of the log.
  if (at_end) hub_.advance_head(tail_->task(), page.head, page.complete);
  FrameBatch batch;
  batch.events = page.events;
  if (!page.bytes.empty()) batch.spans.push_back(own_bytes(std::move(page.bytes)));
  count_skipped(page.skipped, batch);
  if (batch.spans.empty()) {
    advance();  // everything was filtered out, or the log has ended
    return;
  }
  // Reads the next page while this one is written.
  if (quick_ && !at_end) read_store();
  auto alive = alive_;  // the consumer may end the feed
  quick_ = false;
  delivering_ = true;
  deliver(batch, false, {});
  if (*alive != nullptr) delivering_ = false;
}

}  // namespace shepherd
