// Decides who may settle an approval in a log: operators by commands, and the stream that opened the approval, because
// it has its agent's answer. An "approved" from any other producer would only remove it from the inbox while the agent
// keeps waiting. Threads: any (no state); check_approvals() reads the store.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/draft.h"
#include "store/event_store.h"

namespace shepherd {

// Whether one of these events is about an approval, so that the store must be read.
bool has_approvals(const DraftBatch& batch);

// permission_denied/reserved_type with the index of the first event that settles, or reopens as its own, an open
// approval of another producer.
Result<void> check_approvals(const EventStore& store, const std::string& task, const DraftBatch& batch,
                             std::string_view producer);

}  // namespace shepherd
