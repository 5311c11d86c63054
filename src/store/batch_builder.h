// Collects the appends of one transaction as batches: consecutive events of one task, from one producer with
// consecutive numbers (or without numbers), at most kMaxStoredBatchEvents and kMaxStoredBatchBytes. Single posts that
// share a commit thus become one row. Threads: caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/append_plan.h"
#include "store/event_batch.h"
#include "store/event_store.h"

namespace shepherd {

// A batch and what a store keeps with it.
struct StoredBatch {
  std::shared_ptr<EventBatch> batch;
  std::optional<std::string> producer;  // of numbered events ("" for the loose one); nullopt: no numbers
  std::uint64_t producer_first = 0;     // the producer's number of the first event; the others follow
  std::int64_t first_received_ms = 0;

  // The body of the event with the producer's number; nullopt if it is not in this batch.
  std::optional<std::string_view> body_of_number(std::string_view producer_name, std::uint64_t number) const;
};

class BatchBuilder {
 public:
  // Numbers the planned drafts, folds them into `head` and collects them. The i-th new draft gets the number
  // (last_sequence before) + 1 + i.
  Appended add(TaskHead& head, const AppendRequest& request, const AppendPlan& plan);

  // Searches the batches that were collected and not yet taken.
  std::optional<std::string_view> body_of_number(const std::string& task, const std::string& producer,
                                                 std::uint64_t number) const;

  // Returns everything collected, in order. Positions start after `position`, which is set to the newest one.
  std::vector<StoredBatch> take(std::uint64_t& position);

  bool empty() const { return batches_.empty(); }

 private:
  StoredBatch& batch_for(std::vector<std::size_t>& of_task, const AppendRequest& request, const Draft& draft,
                         bool keyed, std::uint64_t sequence);

  std::vector<StoredBatch> batches_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_task_;  // indexes into batches_, ascending
};

}  // namespace shepherd
