// Records and leases: what a transaction reads of them stays as it is until its end, also what is not there.
#include <algorithm>

#include "store/limits.h"
#include "store/postgres/lease_rows.h"
#include "store/postgres/postgres_txn.h"

namespace shepherd {

// Two statements, because the second one must see what was committed while the first one waited.
Result<void> PostgresTxn::lock_name(const char* of, const std::string& name) {
  auto locked =
      run("SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || $1 || ' ' || $2, 0))", of, name);
  if (!locked) return fail(std::move(locked.error()));
  return {};
}

Result<std::string> PostgresTxn::record(const std::string& kind, const std::string& key) {
  if (auto mine = work_.records.find({kind, key}); mine != work_.records.end()) return mine->second;
  if (auto locked = lock_name("record", kind + "/" + key); !locked) return fail(std::move(locked.error()));
  auto rows = run("SELECT value FROM record WHERE kind = $1 AND key = $2", kind, key);
  if (!rows) return fail(std::move(rows.error()));
  return rows->empty() ? std::string() : rows->text(0, 0);
}

Result<void> PostgresTxn::put_record(const std::string& kind, const std::string& key, const std::string& value) {
  if (auto locked = lock_name("record", kind + "/" + key); !locked) return locked;
  work_.records[{kind, key}] = value;
  note(ChangeKind::record_changed, kind, key);
  return {};
}

Result<void> PostgresTxn::keep_cursor(const std::string& name, const std::string& value) {
  if (broken_) return fail(*broken_);
  work_.records[{kCursors, name}] = value;
  return {};
}

Lease* PostgresTxn::changed_lease(const LeaseKey& key) {
  auto mine = work_.leases.find(key);
  return mine != work_.leases.end() && mine->second ? &*mine->second : nullptr;
}

Result<std::vector<Lease>> PostgresTxn::leases(LeaseKind kind, const std::string& name) {
  if (auto locked = lock_name("lease", name); !locked) return fail(std::move(locked.error()));
  auto rows = run("SELECT " SHEPHERD_LEASE_COLUMNS " FROM lease WHERE kind = $1 AND name = $2 FOR UPDATE",
                  static_cast<int>(kind), name);
  if (!rows) return fail(std::move(rows.error()));
  std::vector<Lease> found;
  for (Lease& lease : leases_in(*rows)) {
    if (!work_.leases.contains(lease.key)) found.push_back(std::move(lease));
  }
  for (const auto& [key, lease] : work_.leases) {
    if (lease && key.kind == kind && key.name == name) found.push_back(*lease);
  }
  std::ranges::sort(found, {}, &Lease::key);
  return found;
}

Result<std::vector<Lease>> PostgresTxn::leases_over(std::int64_t now_ms, std::size_t limit) {
  // Those that this transaction changed may be among the rows, so as many more are read.
  auto rows = run("SELECT " SHEPHERD_LEASE_COLUMNS " FROM lease WHERE until <= $1 ORDER BY kind, name, holder LIMIT $2",
                  now_ms, static_cast<std::uint64_t>(limit + work_.leases.size()));
  if (!rows) return fail(std::move(rows.error()));
  std::vector<Lease> over;
  for (Lease& lease : leases_in(*rows)) {
    if (!work_.leases.contains(lease.key)) over.push_back(std::move(lease));
  }
  for (const auto& [key, lease] : work_.leases) {
    if (lease && lease->until_ms <= now_ms) over.push_back(*lease);
  }
  std::ranges::sort(over, {}, &Lease::key);
  if (over.size() > limit) over.resize(limit);
  return over;
}

Result<void> PostgresTxn::put_lease(const Lease& lease) {
  if (auto locked = lock_name("lease", lease.key.name); !locked) return locked;
  work_.leases[lease.key] = lease;
  note(ChangeKind::lease_changed, std::string(shepherd::name(lease.key.kind)), lease.key.name);
  return {};
}

Result<void> PostgresTxn::end_lease(const LeaseKey& key) {
  auto held = leases(key.kind, key.name);
  if (!held) return fail(std::move(held.error()));
  if (std::ranges::find(*held, key, &Lease::key) == held->end()) return {};
  work_.leases[key] = std::nullopt;
  note(ChangeKind::lease_changed, std::string(shepherd::name(key.kind)), key.name);
  return {};
}

Result<bool> PostgresTxn::renew_lease(const LeaseRenewal& renewal) {
  const LeaseKey& key = renewal.key;
  std::optional<Lease> lease;
  if (auto mine = work_.leases.find(key); mine != work_.leases.end()) {
    lease = mine->second;
  } else {
    auto rows =
        run("SELECT " SHEPHERD_LEASE_COLUMNS " FROM lease WHERE kind = $1 AND name = $2 AND holder = $3 FOR UPDATE",
            static_cast<int>(key.kind), key.name, key.holder);
    if (!rows) return fail(std::move(rows.error()));
    if (auto found = leases_in(*rows); !found.empty()) lease = std::move(found.front());
  }
  if (!lease || lease->epoch != renewal.epoch) return false;
  lease->until_ms = std::max(lease->until_ms, renewal.until_ms);
  lease->heard = lease->heard || renewal.heard;
  work_.leases[key] = std::move(lease);
  return true;
}

void PostgresTxn::write_names() {
  for (const auto& [name, value] : work_.records) {
    if (value.empty()) {
      connection_.send("DELETE FROM record WHERE kind = $1 AND key = $2", name.first, name.second);
    } else {
      connection_.send(
          "INSERT INTO record(kind, key, value) VALUES($1, $2, $3)"
          " ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
          name.first, name.second, Bytea{value});
    }
  }
  for (const auto& [key, lease] : work_.leases) {
    if (!lease) {
      connection_.send("DELETE FROM lease WHERE kind = $1 AND name = $2 AND holder = $3", static_cast<int>(key.kind),
                       key.name, key.holder);
      continue;
    }
    connection_.send(
        "INSERT INTO lease(kind, name, holder, epoch, until, heard, note) VALUES($1, $2, $3, $4, $5, $6 = 1, $7)"
        " ON CONFLICT (kind, name, holder) DO UPDATE SET epoch = excluded.epoch, until = excluded.until,"
        " heard = excluded.heard, note = excluded.note",
        static_cast<int>(key.kind), key.name, key.holder, lease->epoch, lease->until_ms, lease->heard ? 1 : 0,
        lease->note);
  }
}

}  // namespace shepherd
