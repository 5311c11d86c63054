#include "hub/tail.h"

#include <algorithm>

#include "base/assert.h"
#include "hub/limits.h"

namespace shepherd {

// --- lists of waiters ---

void Tail::link(TailWaiter*& list, TailWaiter& waiter) {
  waiter.list_ = &list;
  waiter.previous_ = nullptr;
  waiter.next_ = list;
  if (list != nullptr) list->previous_ = &waiter;
  list = &waiter;
}

void Tail::unlink(TailWaiter& waiter) {
  if (waiter.list_ == nullptr) return;
  if (waiter.previous_ != nullptr) waiter.previous_->next_ = waiter.next_;
  if (waiter.next_ != nullptr) waiter.next_->previous_ = waiter.previous_;
  if (*waiter.list_ == &waiter) *waiter.list_ = waiter.next_;
  waiter.list_ = nullptr;
}

Tail::Group& Tail::group_of(Executor* executor) {
  for (auto& group : groups_) {
    if (group->executor == executor) return *group;
  }
  groups_.push_back(std::make_unique<Group>());
  groups_.back()->executor = executor;
  return *groups_.back();
}

void Tail::wait(TailWaiter& waiter, const PullRequest& request, Executor* executor) {
  SHEPHERD_ASSERT(waiter.list_ == nullptr, "a feed waits once at a time");
  waiter.selection_ = request.selection;
  waiter.deltas_ = request.delta_seen != nullptr;
  waiter.ready_ = false;
  waiter.passed_ = 0;
  Group& group = group_of(executor);
  bool filtered = waiter.selection_ != nullptr || waiter.deltas_;
  link(filtered ? group.filtered : group.plain, waiter);
}

void Tail::leave(TailWaiter& waiter) {
  MutexLock lock(mutex_);
  unlink(waiter);
}

std::uint64_t Tail::passed(const TailWaiter& waiter) const {
  MutexLock lock(mutex_);
  if (waiter.list_ == nullptr || waiter.ready_) return waiter.passed_;
  return head_;
}

void Tail::collect_woken(Group& group) {
  group.again = false;
  while (group.plain != nullptr) {
    TailWaiter& waiter = *group.plain;
    unlink(waiter);
    link(group.draining, waiter);
  }
  for (TailWaiter* waiter = group.filtered; waiter != nullptr;) {
    TailWaiter* next = waiter->next_;
    if (waiter->ready_) {
      unlink(*waiter);
      link(group.draining, *waiter);
    }
    waiter = next;
  }
}

bool Tail::drain(Executor* executor, std::size_t& most) {
  Group* group = nullptr;
  {
    MutexLock lock(mutex_);
    group = &group_of(executor);
    if (group->draining == nullptr) collect_woken(*group);
  }
  // One at a time, because a call may destroy or re-register any feed of this executor, including the called one.
  for (;;) {
    TailWaiter* waiter = nullptr;
    {
      MutexLock lock(mutex_);
      waiter = group->draining;
      if (waiter == nullptr) {
        group->posted = group->again;
        return group->again;
      }
      if (most == 0) return true;
      unlink(*waiter);
    }
    --most;
    waiter->on_wake();
  }
}

void Tail::post(Group& group, std::vector<Executor*>& wake) {
  group.again = true;
  if (group.posted) return;
  group.posted = true;
  wake.push_back(group.executor);
}

void Tail::wake_all(std::vector<Executor*>& wake) {
  for (auto& group : groups_) {
    for (TailWaiter* waiter = group->filtered; waiter != nullptr; waiter = waiter->next_) waiter->ready_ = true;
    if (group->plain != nullptr || group->filtered != nullptr) post(*group, wake);
  }
}

// --- events in ---

void Tail::restart(std::uint64_t head) {
  // Waiters that were skipping events had seen everything up to the old head.
  for (auto& group : groups_) {
    for (TailWaiter* waiter = group->filtered; waiter != nullptr; waiter = waiter->next_) {
      if (!waiter->ready_) waiter->passed_ = known_ ? head_ : 0;
    }
  }
  batches_.clear();
  framed_.clear();
  events_ = 0;
  batch_bytes_ = 0;
  head_ = head;
  if (!known_) {
    for (auto& delta : deltas_) delta.after = head;
  }
  known_ = true;
}

void Tail::publish(const BatchPtr& batch, std::vector<Executor*>& wake) {
  MutexLock lock(mutex_);
  SHEPHERD_ASSERT(batch->size() > 0 && first_of(*batch) > 0, "only what was committed is published");
  std::uint64_t first = first_of(*batch);
  std::uint64_t last = last_of(*batch);
  if (known_ && last <= head_) return;
  if (!known_) {
    restart(first - 1);
  } else if (first > head_ + 1) {
    restart(first - 1);
    wake_all(wake);
  }
  SHEPHERD_ASSERT(first <= head_ + 1, "a tail has no hole");
  std::uint64_t before = head_;
  batches_.push_back(batch);
  events_ += batch->size();
  batch_bytes_ += batch->bytes.size();
  head_ = last;
  complete_ = batch->complete;
  trim();

  for (auto& group : groups_) {
    if (group->plain != nullptr) post(*group, wake);
    for (TailWaiter* waiter = group->filtered; waiter != nullptr; waiter = waiter->next_) {
      if (waiter->ready_) continue;
      bool ended = !batch->complete.empty();
      if (waiter->selection_ != nullptr && !ended && !waiter->selection_->takes_any(*batch)) continue;
      waiter->ready_ = true;
      waiter->passed_ = before;
      post(*group, wake);
    }
  }
}

void Tail::trim() {
  // Trims only at a quarter above the bound, so that many events share the cost of moving the rest.
  if (events_ <= max_events_ + max_events_ / 4 && batch_bytes_ <= kTailBytes) return;
  std::size_t drop = 0;
  while (drop + 1 < batches_.size() && (events_ - batches_[drop]->size() >= max_events_ || batch_bytes_ > kTailBytes)) {
    events_ -= batches_[drop]->size();
    batch_bytes_ -= batches_[drop]->bytes.size();
    ++drop;
  }
  batches_.erase(batches_.begin(), batches_.begin() + static_cast<std::ptrdiff_t>(drop));
  for (auto& frames : framed_) frames->drop_before(first_of(*batches_.front()));
}

void Tail::advance_head(std::uint64_t head, const std::string& complete, std::vector<Executor*>& wake) {
  MutexLock lock(mutex_);
  if (known_ && head <= head_) return;
  bool news = known_;
  restart(head);
  complete_ = complete;
  if (news) wake_all(wake);
}

void Tail::forget_deleted(std::vector<Executor*>& wake) {
  MutexLock lock(mutex_);
  restart(0);
  gone_ = true;
  wake_all(wake);
}

void Tail::publish_delta(std::uint64_t id, const std::string& task, const std::string& data,
                         std::vector<Executor*>& wake) {
  MutexLock lock(mutex_);
  if (delta_readers_ == 0) return;
  for (auto& group : groups_) {
    for (TailWaiter* waiter = group->filtered; waiter != nullptr; waiter = waiter->next_) {
      if (!waiter->deltas_ || waiter->ready_) continue;
      if (waiter->selection_ != nullptr && !waiter->selection_->takes_task(task)) continue;
      waiter->ready_ = true;
      waiter->passed_ = head_;
      post(*group, wake);
    }
  }
  deltas_.push_back({id, known_ ? head_ : kUnknownPlace, task, data, {}});
  delta_bytes_ += data.size();
  drop_old_deltas();
}

void Tail::add_delta_reader() {
  MutexLock lock(mutex_);
  ++delta_readers_;
}

void Tail::remove_delta_reader() {
  MutexLock lock(mutex_);
  SHEPHERD_ASSERT(delta_readers_ > 0, "a reader leaves once");
  if (--delta_readers_ > 0) return;
  deltas_.clear();
  delta_bytes_ = 0;
}

// A consumer that is this far behind loses live text first; the finished events have everything.
void Tail::drop_old_deltas() {
  while (!deltas_.empty()) {
    const Delta& oldest = deltas_.front();
    bool passed = known_ && oldest.after != kUnknownPlace && oldest.after + kDeltaEvents < head_;
    if (!passed && deltas_.size() <= kPendingDeltas && delta_bytes_ <= kPendingDeltaBytes) return;
    delta_bytes_ -= oldest.data.size();
    deltas_.pop_front();
  }
}

// --- frames out ---

FramedLog& Tail::framed(const FrameEncoder& encoder, std::uint64_t from) {
  FramedLog* frames = nullptr;
  for (auto& candidate : framed_) {
    if (&candidate->encoder() == &encoder) frames = candidate.get();
  }
  if (frames == nullptr) frames = framed_.emplace_back(std::make_unique<FramedLog>(encoder, all())).get();
  if (frames->empty() || from < frames->first()) frames->restart(from);
  auto batch = batches_.end();
  while (batch != batches_.begin() && last_of(**std::prev(batch)) >= frames->next()) --batch;
  for (; batch != batches_.end(); ++batch) {
    for (std::uint64_t number = frames->next(); number <= last_of(**batch); ++number) {
      auto i = static_cast<std::size_t>(number - first_of(**batch));
      bool ends = all() && ends_task(**batch, i);
      frames->add(**batch, i, ends ? std::string_view((*batch)->complete) : std::string_view());
    }
  }
  return *frames;
}

template <class Deltas>
auto Tail::first_unseen(Deltas& deltas, std::uint64_t seen) {
  return std::partition_point(deltas.begin(), deltas.end(), [&](const auto& delta) { return delta.id <= seen; });
}

void Tail::take_deltas(const PullRequest& request, std::vector<ByteSpan>& out) {
  for (auto at = first_unseen(deltas_, *request.delta_seen); at != deltas_.end(); ++at) {
    Delta& delta = *at;
    if (delta.after > request.after) return;
    *request.delta_seen = delta.id;
    if (delta.after < request.after) continue;
    if (request.selection != nullptr && !request.selection->takes_task(delta.task)) continue;
    auto known = std::find_if(delta.framed.begin(), delta.framed.end(),
                              [&](const auto& pair) { return pair.first == request.encoder; });
    if (known == delta.framed.end()) {
      std::string bytes;
      request.encoder->delta(bytes, delta.task, delta.data);
      delta.framed.emplace_back(request.encoder, own_bytes(std::move(bytes)));
      known = std::prev(delta.framed.end());
    }
    out.push_back(known->second);
  }
}

// Up to which event a pull may go, so that the next one finds live text that stands before later events.
std::uint64_t Tail::place_of_next_delta(const PullRequest& request) const {
  if (request.delta_seen == nullptr) return head_;
  for (auto at = first_unseen(deltas_, *request.delta_seen); at != deltas_.end(); ++at) {
    if (at->after > request.after) return std::min(at->after, head_);
  }
  return head_;
}

void Tail::take_selected(const PullRequest& request, std::uint64_t through, FramedLog& frames,
                         std::vector<ByteSpan>& out, Pull& pull) {
  std::size_t taken = 0;
  const Selection* selection = request.selection;
  for (const auto& batch : batches_) {
    if (last_of(*batch) <= pull.number) continue;
    bool task_wanted = selection == nullptr || selection->takes_task(batch->task);
    while (pull.number < last_of(*batch)) {
      if (taken >= request.max_bytes || pull.number == through) return;
      auto i = static_cast<std::size_t>(pull.number + 1 - first_of(*batch));
      bool wanted = task_wanted && (selection == nullptr || selection->takes_event(*batch, i));
      ++pull.number;
      if (wanted) {
        ++pull.events;
        taken += batch->event(i).size();
      } else {
        ++pull.skipped;
      }
      if (task_wanted) frames.one(pull.number, wanted, out);
    }
  }
}

Pull Tail::pull(const PullRequest& request, std::vector<ByteSpan>& out, TailWaiter* waiter, Executor* executor) {
  MutexLock lock(mutex_);
  Pull pull;
  pull.number = request.after;
  if (gone_) {
    pull.what = Pull::What::gone;
    return pull;
  }
  if (!known_ || request.after > head_) return pull;  // behind: only the store has the answer
  if (request.delta_seen != nullptr) take_deltas(request, out);
  if (request.after < head_) {
    if (batches_.empty() || request.after + 1 < first_of(*batches_.front())) return pull;
    FramedLog& frames = framed(*request.encoder, request.after + 1);
    std::uint64_t through = place_of_next_delta(request);
    if (request.selection == nullptr && through == head_) {
      pull.number = frames.all_from(request.after + 1, request.max_bytes, out) - 1;
      pull.events = static_cast<std::size_t>(pull.number - request.after);
    } else {
      take_selected(request, through, frames, out, pull);
    }
  }
  pull.at_end = pull.number == head_;
  if (pull.at_end && !all()) pull.complete = complete_;
  pull.what = out.empty() ? Pull::What::nothing : Pull::What::frames;
  if (out.empty() && pull.at_end && pull.complete.empty() && waiter != nullptr) {
    wait(*waiter, {request.encoder, pull.number, request.selection, request.delta_seen, 0}, executor);
  }
  return pull;
}

// --- bookkeeping ---

std::uint64_t Tail::head() const {
  MutexLock lock(mutex_);
  return known_ ? head_ : 0;
}

std::size_t Tail::bytes() const {
  MutexLock lock(mutex_);
  std::size_t total = batch_bytes_;
  for (const auto& frames : framed_) total += frames->bytes();
  return total;
}

bool Tail::watched() const {
  MutexLock lock(mutex_);
  return std::any_of(groups_.begin(), groups_.end(), [](const auto& group) {
    return group->plain != nullptr || group->filtered != nullptr || group->draining != nullptr;
  });
}

void Tail::evict() {
  MutexLock lock(mutex_);
  batches_.clear();
  framed_.clear();
  events_ = 0;
  batch_bytes_ = 0;
}

}  // namespace shepherd
