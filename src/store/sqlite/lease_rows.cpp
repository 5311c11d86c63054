#include "store/sqlite/lease_rows.h"

#include <utility>

namespace shepherd {
namespace {

Result<std::vector<Lease>> leases_in(Statement row) {
  std::vector<Lease> leases;
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return leases;
    LeaseKey key{static_cast<LeaseKind>(row.integer(0)), row.text(1), row.text(2)};
    leases.push_back({std::move(key), row.number(3), row.integer(4), row.integer(5) != 0, row.text(6)});
  }
}

}  // namespace

Result<std::vector<Lease>> read_leases(Database& database, LeaseKind kind) {
  return leases_in(database.use(
      "SELECT kind, name, holder, epoch, until, heard, note FROM lease WHERE kind = ? ORDER BY name, holder",
      static_cast<int>(kind)));
}

Result<std::vector<Lease>> read_leases(Database& database, LeaseKind kind, const std::string& name) {
  return leases_in(database.use(
      "SELECT kind, name, holder, epoch, until, heard, note FROM lease WHERE kind = ? AND name = ? ORDER BY holder",
      static_cast<int>(kind), name));
}

Result<std::vector<Lease>> read_leases_over(Database& database, std::int64_t now_ms, std::size_t limit) {
  return leases_in(database.use(
      "SELECT kind, name, holder, epoch, until, heard, note FROM lease WHERE until <= ? ORDER BY kind, name, holder"
      " LIMIT ?",
      now_ms, static_cast<std::uint64_t>(limit)));
}

Result<void> store_lease(Database& database, const Lease& lease) {
  return database
      .use("INSERT OR REPLACE INTO lease(kind, name, holder, epoch, until, heard, note) VALUES(?, ?, ?, ?, ?, ?, ?)",
           static_cast<int>(lease.key.kind), lease.key.name, lease.key.holder, lease.epoch, lease.until_ms,
           lease.heard ? 1 : 0, lease.note)
      .run();
}

Result<bool> erase_lease(Database& database, const LeaseKey& key) {
  auto done = database
                  .use("DELETE FROM lease WHERE kind = ? AND name = ? AND holder = ?", static_cast<int>(key.kind),
                       key.name, key.holder)
                  .run();
  if (!done) return fail(std::move(done.error()));
  return database.changes() > 0;
}

Result<bool> renew_lease(Database& database, const LeaseRenewal& renewal) {
  const LeaseKey& key = renewal.key;
  auto done =
      database
          .use(
              "UPDATE lease SET until = max(until, ?), heard = max(heard, ?)"
              " WHERE kind = ? AND name = ? AND holder = ? AND epoch = ?",
              renewal.until_ms, renewal.heard ? 1 : 0, static_cast<int>(key.kind), key.name, key.holder, renewal.epoch)
          .run();
  if (!done) return fail(std::move(done.error()));
  return database.changes() > 0;
}

Result<void> erase_leases_on(Database& database, const std::string& task) {
  return database
      .use("DELETE FROM lease WHERE kind IN (?, ?) AND name = ?", static_cast<int>(LeaseKind::task),
           static_cast<int>(LeaseKind::taker), task)
      .run();
}

}  // namespace shepherd
