// The rows that a deleted task leaves behind. Deleting a task removes its row and notes its key in the table leftover;
// since readers find everything through the task's row, and a key is never given twice, no one finds the rest. It is
// removed in pieces, each in a transaction that other writes share, so that a long log does not hold up the writer.
// Threads: its connection's. Errors are the database's.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

// How much to remove in one piece.
struct EraseLimit {
  std::uint64_t rows = UINT64_MAX;
  std::uint64_t bytes = UINT64_MAX;
};

struct ErasedDetails {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // written: SQLite rewrites content that another event has, too
  std::uint64_t freed = 0;  // of content that no other event has
};
// Removes the details of the events at these positions, and their content unless another event has the same. Stops when
// the limit is reached.
Result<ErasedDetails> erase_details(Database& database, std::uint64_t first_position, std::uint64_t last_position,
                                    EraseLimit limit = {});

struct ErasedLeftovers {
  std::uint64_t detail_bytes = 0;
  bool any = false;
  bool more = false;
};
// Removes one piece: at least one row if there is one, and about as much as the limit says.
Result<ErasedLeftovers> erase_leftovers(Database& database, EraseLimit limit = {});

}  // namespace shepherd
