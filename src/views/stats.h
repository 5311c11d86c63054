// Statistics over a range of time, for charts: the ledger's figures on one grid.
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/ledger.h"

namespace shepherd {

struct StatsPoint {
  LedgerAmounts amounts;
  std::uint64_t running = 0;  // tasks active at any time within the step
};

struct StatsSeries {
  std::string key;                 // an agent or a model; "" if unknown or not requested
  std::vector<StatsPoint> points;  // one per step of the range
};

struct ToolStats {
  std::string tool;
  std::uint64_t calls = 0, failures = 0;
  double p50_ms = 0, p95_ms = 0;  // 0: no call has ended
};

struct Stats {
  std::vector<StatsSeries> series;  // costliest first; after kMaxStatsSeries the rest become one, "other"
  std::vector<ToolStats> tools;     // most used first, at most kMaxStatsTools
  StatsPoint totals;
  std::uint64_t tasks = 0;  // tasks active at any time in the range
};

inline constexpr const char* kOtherSeries = "other";

// Reads the figures in steps of kStatsStepUnits, so that a long range holds up no other reader. Each step blocks, so
// call it from a worker thread. The range must come from stats_range().
// Threads: caller.
class StatsScan {
 public:
  StatsScan(const Ledger& ledger, const LedgerRange& range);

  // Reads on; true when everything is read. Do not call it again after that, or after an error.
  Result<bool> step();
  Stats stats();  // once, when everything is read

 private:
  enum class Part : std::uint8_t { figures, ended_later, open, done };

  Result<void> read_figures(const LedgerRange& part, std::size_t offset);
  Result<void> read_running(const std::optional<EndedIn>& ended);
  StatsSeries& series_of(const std::string& key);

  const Ledger& ledger_;
  const LedgerRange range_;
  const std::int64_t part_seconds_;  // of one step
  Part part_ = Part::figures;
  std::int64_t at_;  // read up to here
  std::int64_t newest_end_ = 0;
  std::map<std::string, StatsSeries> series_;
  std::map<std::string, std::vector<std::int64_t>> changes_;  // of the number of active tasks, by key and step
  std::map<std::string, ToolUse> tools_;
  std::uint64_t tasks_ = 0, open_ = 0;
};

// All steps at once.
Result<Stats> read_stats(const Ledger& ledger, const LedgerRange& range);

// Aligns the range with the ledger's grid: steps of full minutes, at most kMaxStatsPoints of them, starting at a full
// minute (with steps of full quarters of an hour: at a full quarter). A step of 0 selects a round one that gives about
// a hundred points. invalid_argument/bad_parameter for an empty range, or a step too small for the range; the error
// names the smallest step.
Result<LedgerRange> stats_range(std::int64_t from_ms, std::int64_t to_ms, std::int64_t step_seconds,
                                LedgerRange::By by);

// The same range in steps that the ledger still has: full quarters of an hour if it starts before the oldest minutes
// that are kept.
Result<LedgerRange> fit_range(const Ledger& ledger, LedgerRange range);

// Parses "2026-02-18T14:00:00Z", a time before now ("-24h", "-30m", "-7d", "-90s") or "now".
// invalid_argument/bad_parameter.
Result<std::int64_t> time_named(std::string_view text, std::int64_t now_ms);

}  // namespace shepherd
