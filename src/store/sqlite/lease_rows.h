// The rows of leases.
// Threads: its connection's. Errors are the database's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"
#include "store/lease.h"

namespace shepherd {

Result<std::vector<Lease>> read_leases(Database& database, LeaseKind kind);
Result<std::vector<Lease>> read_leases(Database& database, LeaseKind kind, const std::string& name);
Result<std::vector<Lease>> read_leases_over(Database& database, std::int64_t now_ms, std::size_t limit);

Result<void> store_lease(Database& database, const Lease& lease);
Result<bool> erase_lease(Database& database, const LeaseKey& key);  // whether there was one
Result<bool> renew_lease(Database& database, const LeaseRenewal& renewal);
Result<void> erase_leases_on(Database& database, const std::string& task);

}  // namespace shepherd
