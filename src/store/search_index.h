// Full-text search over all logs. Built behind the commit from the store, so it never slows ingest and can always be
// thrown away and built again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct SearchEntry {
  std::uint64_t position = 0;  // global position of the event
  std::string text;            // searchable_text() of it
};

// Threads: add(), remove() and purge() from one thread at a time; the rest from any.
class SearchIndex {
 public:
  virtual ~SearchIndex() = default;

  // Adds events and remembers `through` as the newest indexed position, in one transaction.
  virtual Result<void> add(const std::vector<SearchEntry>& entries, std::uint64_t through) = 0;
  // Removes events; the text must be what was added.
  virtual Result<void> remove(const std::vector<SearchEntry>& entries) = 0;
  // Takes what was removed out of the file as well: until then its words can be read there. Writes all of it anew.
  virtual Result<void> purge() = 0;
  virtual Result<std::uint64_t> indexed_through() const = 0;

  // Positions that match, newest first. The query is words (all must match), "quoted phrases", prefix*, OR, -word;
  // anything else in it is taken as text, never as an error. before: only positions below it (0: no bound).
  virtual Result<std::vector<std::uint64_t>> search(std::string_view query, std::uint64_t before,
                                                    std::size_t limit) const = 0;
};

}  // namespace shepherd
