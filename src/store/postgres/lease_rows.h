// Rows of the table `lease`, as reads and the writer select them. Threads: value.
#pragma once

#include <vector>

#include "postgres/rows.h"
#include "store/lease.h"

namespace shepherd {

#define SHEPHERD_LEASE_COLUMNS "kind, name, holder, epoch, until, heard, note"

inline std::vector<Lease> leases_in(const PostgresRows& rows) {
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LeaseKey key{static_cast<LeaseKind>(rows.integer(i, 0)), rows.text(i, 1), rows.text(i, 2)};
    leases.push_back({std::move(key), rows.number(i, 3), rows.integer(i, 4), rows.integer(i, 5) != 0, rows.text(i, 6)});
  }
  return leases;
}

}  // namespace shepherd
