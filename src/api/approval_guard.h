// Who may say in a log that an approval is settled. Operators do it by commands; the stream that opened the approval
// does it because it knows what its agent got. Another producer that posts "approved" would only take it out of the
// inbox while the agent goes on waiting. Threads: any (no state); check_approvals() reads the store.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/draft.h"
#include "store/event_store.h"

namespace shepherd {

// Whether one of these is about an approval: worth asking the store.
bool has_approvals(const DraftBatch& batch);

// permission_denied/reserved_type with the index of the first event that settles, or opens again as its own, an open
// approval of another producer.
Result<void> check_approvals(const EventStore& store, const std::string& task, const DraftBatch& batch,
                             std::string_view producer);

}  // namespace shepherd
