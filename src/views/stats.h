// Stats over a range of time, as charts show them: what the ledger has, put on one grid.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/ledger.h"

namespace shepherd {

struct StatsPoint {
  LedgerAmounts amounts;
  std::uint64_t running = 0;  // tasks under way at some time within the step
};

struct StatsSeries {
  std::string key;                 // an agent or a model; "" when it is not known or not asked for
  std::vector<StatsPoint> points;  // one for every step of the range
};

struct ToolStats {
  std::string tool;
  std::uint64_t calls = 0, failures = 0;
  double p50_ms = 0, p95_ms = 0;  // 0: no call has ended
};

struct Stats {
  std::vector<StatsSeries> series;  // the costliest first; behind kMaxStatsSeries the rest is one, "other"
  std::vector<ToolStats> tools;     // the most used first, at most kMaxStatsTools
  StatsPoint totals;
  std::uint64_t tasks = 0;  // that were under way at some time
};

inline constexpr const char* kOtherSeries = "other";

// Blocks: from a worker thread. The range must be one of stats_range().
Result<Stats> read_stats(const Ledger& ledger, const LedgerRange& range);

// The range on the ledger's grid: begins at a full minute (of steps of full quarters of an hour: at such a quarter), in
// steps of full minutes, at most kMaxStatsPoints of them.
// A step of 0 is chosen: a round one that makes about a hundred points. A step that is too small for the range is
// invalid_argument/bad_parameter and named, as is a range that is empty.
Result<LedgerRange> stats_range(std::int64_t from_ms, std::int64_t to_ms, std::int64_t step_seconds,
                                LedgerRange::By by);

// The same range, in steps that the ledger can still tell apart: full quarters of an hour when it begins before the
// oldest minutes that are kept.
Result<LedgerRange> fit_range(const Ledger& ledger, LedgerRange range);

// "2026-02-18T14:00:00Z", or before now: "-24h", "-30m", "-7d", "-90s"; "now". invalid_argument/bad_parameter.
Result<std::int64_t> time_named(std::string_view text, std::int64_t now_ms);

}  // namespace shepherd
