#include "api/approval_guard.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "json/scan.h"
#include "model/task_commands.h"

namespace shepherd {
namespace {

// The id of the approval in this event; empty if there is none.
std::string approval_of(const DraftBatch& batch, const Draft& draft) {
  if (draft.type != EventType::approval) return {};
  return text_member(find_member(batch.body(draft), "data"), "approvalID");
}

// The producer that opened the approval; nullopt if the event is no longer kept.
std::optional<std::string> opener(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  auto page = store.read(task, sequence - 1, {1, 1});
  if (!page) return std::nullopt;
  for (const BatchPtr& stored : page->batches) {
    if (stored->first > sequence || sequence > stored->last()) continue;
    return text_member(stored->event(static_cast<std::size_t>(sequence - stored->first)), "producer");
  }
  return std::nullopt;
}

}  // namespace

bool has_approvals(const DraftBatch& batch) {
  return std::ranges::any_of(batch.drafts, [&](const Draft& draft) { return draft.type == EventType::approval; });
}

Result<void> check_approvals(const EventStore& store, const std::string& task, const DraftBatch& batch,
                             std::string_view producer) {
  auto known = store.row(task);
  if (!known) return {};  // the append reports the unknown task
  for (std::size_t i = 0; i < batch.drafts.size(); ++i) {
    std::string id = approval_of(batch, batch.drafts[i]);
    const TaskApproval* open = id.empty() ? nullptr : find_approval(known->state, id);
    if (open == nullptr) continue;
    auto by = opener(store, task, open->sequence);
    if (!by || *by == producer) continue;
    return fail(Error{
        ErrorCode::permission_denied,
        "reserved_type",
        "An approval is settled by approve, deny or answer, or by the producer that opened it. Send a command.",
        {}}.with("index", static_cast<std::int64_t>(i)));
  }
  return {};
}

}  // namespace shepherd
