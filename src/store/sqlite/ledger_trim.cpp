#include "store/sqlite/ledger_trim.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "store/sqlite/ledger_forget.h"

namespace shepherd {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kDay = 86'400;
constexpr std::uint64_t kTrimRows = 10'000;
constexpr std::array<const char*, 3> kFigures{"amount", "tool", "tool_time"};

Result<std::int64_t> number(Database& database, const std::string& sql) {
  auto row = database.prepare_once(sql);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.integer(0) : 0;
}

Result<std::int64_t> oldest_figures(Database& database, std::int64_t unit) {
  return number(database, "SELECT coalesce(min(at), 0) FROM amount WHERE unit = " + std::to_string(unit));
}

// Drops the oldest day before `from` in every table of figures. Returns false if there was none.
Result<bool> drop_day(Database& database, std::int64_t unit, std::int64_t from) {
  bool dropped = false;
  for (const char* table : kFigures) {
    std::string where = std::string(" FROM ") + table + " WHERE unit = " + std::to_string(unit) + " AND at < ";
    auto oldest = number(database, "SELECT coalesce(min(at), 0)" + where + std::to_string(from));
    if (!oldest) return fail(oldest.error());
    if (*oldest == 0) continue;
    // Ends on a full quarter of an hour, so that the remaining minutes cover whole quarters.
    std::int64_t until = std::min(from, *oldest + kDay);
    until -= until % kLedgerCoarseSeconds;
    if (until <= *oldest) continue;
    auto done = database.prepare_once("DELETE" + where + std::to_string(until)).run();
    if (!done) return fail(done.error());
    dropped = true;
  }
  return dropped;
}

Result<bool> drop_spans(Database& database, std::int64_t from) {
  auto done = database
                  .use("DELETE FROM span WHERE task IN (SELECT task FROM span WHERE ended > 0 AND ended < ? LIMIT ?)",
                       from * 1'000, kTrimRows)
                  .run();
  if (!done) return fail(done.error());
  std::int64_t dropped = database.changes();
  if (dropped == 0) return false;
  done = drop_tool_tasks(database);
  if (!done) return fail(done.error());
  return static_cast<std::uint64_t>(dropped) == kTrimRows;
}

Result<bool> drop_findings(Database& database, std::uint64_t from) {
  auto done =
      database
          .use("DELETE FROM finding WHERE position IN (SELECT position FROM finding WHERE position < ? LIMIT ?)", from,
               kTrimRows)
          .run();
  if (!done) return fail(done.error());
  auto count = number(database, "SELECT changes()");
  if (!count) return fail(count.error());
  return static_cast<std::uint64_t>(*count) == kTrimRows;
}

Result<std::uint64_t> used_bytes(Database& database) {
  auto pages = number(database, "PRAGMA page_count");
  auto unused = pages ? number(database, "PRAGMA freelist_count") : pages;
  auto size = unused ? number(database, "PRAGMA page_size") : unused;
  if (!size) return fail(size.error());
  return static_cast<std::uint64_t>((*pages - *unused) * *size);
}

// Drops the oldest day while the ledger is too large, but always keeps the newest day. Minutes go first, because they
// take most space.
Result<bool> drop_for_room(Database& database, const LedgerKeep& keep) {
  if (keep.bytes == 0) return false;
  auto used = used_bytes(database);
  if (!used) return fail(used.error());
  if (*used <= keep.bytes) return false;
  auto newest = number(database, "SELECT coalesce(max(at), 0) FROM amount WHERE unit = 60");
  if (!newest) return fail(newest.error());
  for (std::int64_t unit : {kMinute, kLedgerCoarseSeconds}) {
    auto dropped = drop_day(database, unit, *newest - kDay);
    if (!dropped || *dropped) {
      if (!dropped || unit == kMinute) return dropped;
      auto oldest = oldest_figures(database, unit);
      if (!oldest) return fail(oldest.error());
      auto spans = drop_spans(database, *oldest);
      return spans ? Result<bool>(true) : spans;
    }
  }
  return false;
}

}  // namespace

Result<bool> trim_ledger(Database& database, const LedgerKeep& keep) {
  bool more = false;
  for (auto [unit, from] :
       {std::pair(kMinute, std::max(keep.minutes_from, keep.from)), std::pair(kLedgerCoarseSeconds, keep.from)}) {
    auto dropped = drop_day(database, unit, from);
    if (!dropped) return dropped;
    more = more || *dropped;
  }
  auto spans = drop_spans(database, keep.from);
  if (!spans) return spans;
  auto findings = drop_findings(database, keep.findings_from);
  if (!findings) return findings;
  if (more || *spans || *findings) return true;
  return drop_for_room(database, keep);
}

}  // namespace shepherd
