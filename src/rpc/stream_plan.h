// Validates a StreamEvents request and determines the feeds to open. Blocking; for worker threads.
// Threads: any (no state).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/feed.h"
#include "shepherd/observability/v1/observability.pb.h"
#include "store/event_store.h"

namespace shepherd {

struct StreamPlan {
  std::vector<FeedOptions> feeds;               // one for each named task, or one over all tasks; without executors
  std::set<std::string, std::less<>> sessions;  // only events of these sessions; empty for any
  bool until_caught_up = false;
  bool ends = false;  // the stream ends once all its tasks have ended
};

// invalid_argument/bad_request; not_found/unknown_task, /unknown_session; conflict/cursor_ahead; the store's errors.
Result<StreamPlan> plan_stream(const EventStore& store, const observability::v1::StreamEventsRequest& request);

}  // namespace shepherd
