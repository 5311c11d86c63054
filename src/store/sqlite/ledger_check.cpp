#include "store/sqlite/ledger_check.h"

#include <utility>

#include "base/limits.h"
#include "sqlite/database.h"
#include "store/sqlite/read_pool.h"
#include "store/sqlite/sqlite_ledger.h"

namespace shepherd {
namespace {

Result<std::int64_t> number(Database& database, const char* sql) {
  auto row = database.prepare_once(sql);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.integer(0) : 0;
}

}  // namespace

Result<LedgerFacts> check_ledger(const std::string& file) {
  auto opened = Database::open(file, OpenMode::read_write, kBusyWait);
  if (!opened) return fail(std::move(opened.error()));
  Database& database = **opened;
  Snapshot snapshot(database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  LedgerFacts facts;
  auto format = number(database, "PRAGMA user_version");
  if (!format) return fail(format.error());
  facts.format = *format;
  auto row = database.prepare_once("PRAGMA integrity_check");
  for (;;) {
    auto found = row.step();
    if (!found) {
      facts.problems.push_back(found.error().message);
      return facts;
    }
    if (!*found) break;
    if (row.bytes(0) != "ok") facts.problems.push_back(row.text(0));
  }
  if (facts.format != kLedgerFormat || !facts.problems.empty()) return facts;
  auto through = number(database, "SELECT through FROM progress");
  if (!through) return fail(through.error());
  facts.through = static_cast<std::uint64_t>(*through);
  auto since = number(database, "SELECT coalesce(min(at), 0) FROM amount WHERE unit = 900");
  if (!since) return fail(since.error());
  facts.since = *since;
  auto different = number(
      database,
      "SELECT count(*) FROM (SELECT at - at % 900 AS quarter, sum(events) AS events, sum(nano_usd) AS nano_usd"
      " FROM amount WHERE unit = 60 GROUP BY quarter) AS minutes LEFT JOIN (SELECT at, sum(events) AS events,"
      " sum(nano_usd) AS nano_usd FROM amount WHERE unit = 900 GROUP BY at) AS whole ON whole.at = minutes.quarter"
      " WHERE whole.events IS NOT minutes.events OR whole.nano_usd IS NOT minutes.nano_usd");
  if (!different) return fail(different.error());
  if (*different != 0) {
    facts.problems.push_back("in " + std::to_string(*different) +
                             " quarters of an hour its minutes add up to another sum");
  }
  return facts;
}

}  // namespace shepherd
