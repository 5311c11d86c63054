// The search index on SQLite FTS5, in a file of its own (search.db). Contentless: it holds words and positions, no
// text, so removing an event needs the text that was added.
//
// Words are runs of letters and digits, without case and diacritics; everything else separates. A path, an identifier
// or a command is therefore a phrase: "auth.go", "src/auth" and "auth" all find src/auth.go, user_id finds user_id.
//
// It is derived data: a file that is corrupt, of another format or ahead of the store is thrown away and built again.
// Threads: as SearchIndex.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/search_index.h"

namespace shepherd {

// Opens or makes the index. `store_head` is the store's newest position: an index beyond it belongs to another past
// (the store was restored from a backup) and starts over, as a damaged one does; the log says so.
Result<std::unique_ptr<SearchIndex>> open_sqlite_search_index(const std::string& path, std::uint64_t store_head);

}  // namespace shepherd
