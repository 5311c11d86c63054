// Searches the messages of chat sessions, for the tool search_sessions. Threads: any.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/event_store.h"
#include "store/search_index.h"
#include "tools/built_in.h"

namespace shepherd {

// The newest messages that match, at most `limit`. It looks at kMaxSearchedEvents matches of any kind. Errors are those
// of the index and of the store.
Result<std::vector<FoundMessage>> find_messages(const SearchIndex& index, const EventStore& store,
                                                std::string_view query, std::size_t limit);

}  // namespace shepherd
