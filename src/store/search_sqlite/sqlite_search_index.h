// The search index on SQLite FTS5, in its own file (search.db). It is contentless: it holds words and positions but no
// text, so removing an event requires the text that was added.
//
// A word is a sequence of letters and digits, without case and diacritics; all other characters separate words. A path,
// an identifier or a command is therefore a phrase: "auth.go", "src/auth" and "auth" all find src/auth.go, user_id
// finds user_id.
//
// It is derived data: a file that is corrupt, of another format or ahead of the store is deleted and rebuilt.
// Threads: as SearchIndex.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/search_index.h"

namespace shepherd {

// Opens or creates the index. `store_head` is the store's newest position. An index beyond it does not belong to this
// store any more (the store was restored from a backup), so it starts from zero, as a damaged one does, and a warning
// is logged.
Result<std::unique_ptr<SearchIndex>> open_sqlite_search_index(const std::string& path, std::uint64_t store_head);

}  // namespace shepherd
