// Full-text search over all logs. A background thread builds it from the store after the commit, so it does not slow
// down ingest and can be deleted and rebuilt at any time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct SearchEntry {
  std::uint64_t position = 0;  // global position of the event
  std::string text;            // the event's searchable_text()
};

// Threads: add(), remove() and purge() from one thread at a time; the rest from any.
class SearchIndex {
 public:
  virtual ~SearchIndex() = default;

  // Adds events and stores `through` as the newest indexed position, in one transaction.
  virtual Result<void> add(const std::vector<SearchEntry>& entries, std::uint64_t through) = 0;
  // Removes events; the text must equal the text that was added.
  virtual Result<void> remove(const std::vector<SearchEntry>& entries) = 0;
  // Rewrites the whole file, so that removed words can no longer be read in it.
  virtual Result<void> purge() = 0;
  virtual Result<std::uint64_t> indexed_through() const = 0;

  // Positions that match, newest first, below `before` (0: no bound). The query has words (all must match), "quoted
  // phrases", prefix*, OR, -word. Anything else is treated as text and never causes an error.
  virtual Result<std::vector<std::uint64_t>> search(std::string_view query, std::uint64_t before,
                                                    std::size_t limit) const = 0;
};

}  // namespace shepherd
