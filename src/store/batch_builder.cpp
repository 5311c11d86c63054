#include "store/batch_builder.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/limits.h"

namespace shepherd {

namespace {

constexpr std::size_t kOwnMembersBytes = 96;  // estimate for sequence, receivedAt and late; saves reallocations

void set_complete(EventBatch& batch, const TaskHead& head) {
  TaskState state = head.state;
  state.last_sequence = batch.last();
  batch.complete = complete_data(batch.task, state);
}

}  // namespace

std::optional<std::string_view> StoredBatch::body_of_number(std::string_view producer_name,
                                                            std::uint64_t number) const {
  if (!producer || *producer != producer_name) return std::nullopt;
  if (number < producer_first || number - producer_first >= batch->size()) return std::nullopt;
  return body_of(batch->event(number - producer_first));
}

StoredBatch& BatchBuilder::batch_for(std::vector<std::size_t>& of_task, const AppendRequest& request,
                                     const Draft& draft, bool keyed, std::uint64_t sequence) {
  if (!of_task.empty()) {
    StoredBatch& open = batches_[of_task.back()];
    bool same_producer = keyed ? open.producer == producer_name(request) &&
                                     open.producer_first + open.batch->size() == draft.producer_sequence
                               : !open.producer;
    bool fits = open.batch->size() < kMaxStoredBatchEvents &&
                open.batch->bytes.size() + draft.body_size + kOwnMembersBytes <= kMaxStoredBatchBytes;
    SHEPHERD_ASSERT(open.batch->last() + 1 == sequence, "the numbers of a log have no hole");
    if (same_producer && fits && open.batch->by_server == request.by_server) return open;
  }
  StoredBatch& fresh = batches_.emplace_back();
  fresh.batch = std::make_shared<EventBatch>();
  fresh.batch->task = request.task;
  fresh.batch->first = sequence;
  fresh.batch->by_server = request.by_server;
  fresh.first_received_ms = request.received_ms;
  if (keyed) {
    fresh.producer = producer_name(request);
    fresh.producer_first = draft.producer_sequence;
  }
  of_task.push_back(batches_.size() - 1);
  return fresh;
}

Appended BatchBuilder::add(TaskHead& head, const AppendRequest& request, const AppendPlan& plan) {
  bool strict = request.producer.kind == ProducerKind::strict;
  bool numbered = request.producer.kind != ProducerKind::none;
  std::string_view shown_producer = strict ? std::string_view(request.producer.id) : std::string_view();
  ProducerNumbers* numbers = nullptr;  // created with the producer's first number

  std::size_t first_touched = batches_.size();
  if (!plan.fresh.empty()) {
    auto& of_task = by_task_[request.task];
    if (!of_task.empty()) first_touched = of_task.back();
    for (const auto& fresh : plan.fresh) {
      const Draft& draft = request.drafts.drafts[fresh.draft];
      std::string_view body = request.drafts.body(draft);
      std::uint64_t sequence = head.state.last_sequence + 1;
      EventBatch& batch = *batch_for(of_task, request, draft, fresh.keyed, sequence).batch;
      if (batch.ends.empty()) {
        batch.bytes.reserve(std::min(kMaxStoredBatchBytes, plan.fresh.size() * (body.size() + kOwnMembersBytes)));
        batch.ends.reserve(std::min(kMaxStoredBatchEvents, plan.fresh.size()));
        batch.types.reserve(batch.ends.capacity());
      }
      append_event(batch.bytes, sequence, request.received_ms, shown_producer, plan.late, body);
      batch.ends.push_back(static_cast<std::uint32_t>(batch.bytes.size()));
      batch.types.push_back(draft.type);
      batch.received_ms = request.received_ms;
      fold(head.state, {.sequence = sequence,
                        .type = draft.type,
                        .received_ms = request.received_ms,
                        .summary = request.drafts.summary(draft),
                        .body = body,
                        .late = plan.late,
                        .by_server = request.by_server});
      SHEPHERD_ASSERT(head.state.last_sequence == sequence, "the fold counts every event");
      if (head.state.first_sequence == 0) head.state.first_sequence = sequence;
      if (fresh.keyed) {
        if (numbers == nullptr) numbers = &head.producers[producer_name(request)];
        numbers->use(draft.producer_sequence);
      }
    }
    // Only late drafts follow an end, so an unfinished earlier batch of this request never belongs to an ended task.
    if (is_terminal(head.state.state)) {
      std::size_t from = plan.late ? first_touched : of_task.back();
      for (std::size_t i : of_task) {
        if (i >= from) set_complete(*batches_[i].batch, head);
      }
    }
  }

  Appended appended;
  appended.last_sequence = head.state.last_sequence;
  appended.added = plan.fresh.size();
  if (numbered) {
    auto known = head.producers.find(producer_name(request));
    if (known != head.producers.end()) appended.producer_sequence = known->second.high();
  }
  return appended;
}

std::optional<std::string_view> BatchBuilder::body_of_number(const std::string& task, const std::string& producer,
                                                             std::uint64_t number) const {
  auto of_task = by_task_.find(task);
  if (of_task == by_task_.end()) return std::nullopt;
  for (auto i = of_task->second.rbegin(); i != of_task->second.rend(); ++i) {
    if (auto body = batches_[*i].body_of_number(producer, number)) return body;
  }
  return std::nullopt;
}

std::vector<StoredBatch> BatchBuilder::take(std::uint64_t& position) {
  for (StoredBatch& stored : batches_) {
    SHEPHERD_ASSERT(stored.batch->size() > 0, "a batch holds an event, so positions have no hole");
    stored.batch->position = position + 1;
    position = stored.batch->last_position();
  }
  by_task_.clear();
  return std::exchange(batches_, {});
}

}  // namespace shepherd
