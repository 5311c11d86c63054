#include "views/stats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/clock.h"
#include "views/limits.h"

namespace shepherd {
namespace {

constexpr std::int64_t kMinute = 60;

std::size_t steps_of(const LedgerRange& range) {
  return static_cast<std::size_t>((range.to - range.from + range.step - 1) / range.step);
}

// Counts active tasks per step: adds one where each starts and subtracts one after its end; the caller sums these up.
void add_running(std::map<std::string, std::vector<std::int64_t>>& changes, const std::vector<RunningTasks>& running,
                 std::size_t steps) {
  for (const RunningTasks& tasks : running) {
    auto& change = changes[tasks.key];
    change.resize(steps + 1);
    change[tasks.first] += static_cast<std::int64_t>(tasks.count);
    change[tasks.last + 1] -= static_cast<std::int64_t>(tasks.count);
  }
}

std::int64_t part_of(const LedgerRange& range) {
  bool coarse = range.step % kLedgerCoarseSeconds == 0 && range.from % kLedgerCoarseSeconds == 0;
  std::int64_t most = kStatsStepUnits * (coarse ? kLedgerCoarseSeconds : kMinute);
  return range.step < most ? most / range.step * range.step : most;
}

LedgerAmounts total_of(const StatsSeries& series) {
  LedgerAmounts total;
  for (const StatsPoint& point : series.points) total += point.amounts;
  return total;
}

void join_the_rest(std::vector<StatsSeries>& series) {
  if (series.size() <= kMaxStatsSeries) return;
  StatsSeries rest = std::move(series[kMaxStatsSeries - 1]);
  rest.key = kOtherSeries;
  for (std::size_t i = kMaxStatsSeries; i < series.size(); ++i) {
    for (std::size_t step = 0; step < rest.points.size(); ++step) {
      rest.points[step].amounts += series[i].points[step].amounts;
      rest.points[step].running += series[i].points[step].running;
    }
  }
  series.resize(kMaxStatsSeries - 1);
  series.push_back(std::move(rest));
}

// The duration of the call at this index (from 0), shortest first.
double time_at(const ToolUse& use, std::uint64_t place) {
  std::uint64_t seen = 0;
  for (const auto& [of_class, count] : use.times) {
    seen += count;
    if (seen > place) return time_of_class(of_class);
  }
  return 0;
}

// The median duration; of an even number of calls, the mean of the two in the middle.
double median(const ToolUse& use, std::uint64_t calls) {
  return (time_at(use, (calls - 1) / 2) + time_at(use, calls / 2)) / 2;
}

double percentile(const ToolUse& use, std::uint64_t calls, double share) {
  auto place = static_cast<std::uint64_t>(std::ceil(static_cast<double>(calls) * share));
  return time_at(use, place - 1);
}

std::vector<ToolStats> tool_stats(const std::map<std::string, ToolUse>& tools) {
  std::vector<ToolStats> stats;
  stats.reserve(tools.size());
  for (const auto& [tool, use] : tools) {
    std::uint64_t ended = 0;
    for (const auto& [of_class, count] : use.times) ended += count;
    stats.push_back({tool, use.calls, use.failures, ended == 0 ? 0 : median(use, ended),
                     ended == 0 ? 0 : percentile(use, ended, 0.95)});
  }
  std::ranges::sort(stats, [](const ToolStats& a, const ToolStats& b) {
    return std::pair(b.calls, std::string_view(a.tool)) < std::pair(a.calls, std::string_view(b.tool));
  });
  if (stats.size() > kMaxStatsTools) stats.resize(kMaxStatsTools);
  return stats;
}

Error bad(std::string_view parameter, std::string message) {
  return Error{ErrorCode::invalid_argument, "bad_parameter", std::move(message), {}}.with("parameter",
                                                                                          std::string(parameter));
}

std::int64_t round_step(std::int64_t seconds) {
  constexpr std::array<std::int64_t, 10> kRound{60, 300, 600, 900, 1'800, 3'600, 10'800, 21'600, 43'200, 86'400};
  constexpr std::int64_t kAbout = 100;
  for (std::int64_t step : kRound) {
    if (seconds / step <= kAbout) return step;
  }
  std::int64_t days = seconds / (kAbout * kRound.back()) + 1;
  return days * kRound.back();
}

}  // namespace

// Parts that begin and end with a step, if several steps fit into one, and parts of a step otherwise. Both are whole
// units of the ledger, and read with the unit of the whole range.
StatsScan::StatsScan(const Ledger& ledger, const LedgerRange& range)
    : ledger_(ledger), range_(range), part_seconds_(part_of(range)), at_(range.from) {
  if (range.by == LedgerRange::By::none) series_of("");  // an empty chart has one flat line
}

StatsSeries& StatsScan::series_of(const std::string& key) {
  StatsSeries& series = series_[key];
  series.key = key;
  series.points.resize(steps_of(range_));
  return series;
}

Result<void> StatsScan::read_figures(const LedgerRange& part, std::size_t offset) {
  auto curves = ledger_.amounts(part);
  if (!curves) return fail(std::move(curves.error()));
  for (const auto& [at, amounts] : *curves) {
    StatsSeries& series = series_of(at.first);
    if (std::size_t step = at.second + offset; step < series.points.size()) series.points[step].amounts += amounts;
  }
  auto tools = ledger_.tools(part);
  if (!tools) return fail(std::move(tools.error()));
  for (const auto& [name, use] : *tools) {
    ToolUse& tool = tools_[name];
    tool.calls += use.calls;
    tool.failures += use.failures;
    for (const auto& [of_class, count] : use.times) tool.times[of_class] += count;
  }
  return {};
}

Result<void> StatsScan::read_running(const std::optional<EndedIn>& ended) {
  auto running = ledger_.running(range_, ended);
  if (!running) return fail(std::move(running.error()));
  add_running(changes_, *running, steps_of(range_));
  for (const RunningTasks& tasks : *running) {
    tasks_ += tasks.count;
    if (tasks.open) open_ += tasks.count;
  }
  return {};
}

Result<bool> StatsScan::step() {
  Result<void> read;
  switch (part_) {
    case Part::figures: {
      LedgerRange part = range_;
      part.from = at_;
      part.step = std::min(range_.step, part_seconds_);
      std::int64_t offset = (at_ - range_.from) / range_.step;
      std::int64_t end_of_step = range_.from + (offset + 1) * range_.step;
      at_ += part_seconds_;
      if (range_.step > part_seconds_) at_ = std::min(at_, end_of_step);
      at_ = std::min(at_, range_.to);
      part.to = at_;
      read = read_figures(part, static_cast<std::size_t>(offset));
      if (read) read = read_running(EndedIn{part.from * 1'000, part.to * 1'000});
      if (at_ < range_.to) break;
      auto newest_end_ms = ledger_.newest_end_ms();
      if (!newest_end_ms) return fail(std::move(newest_end_ms.error()));
      newest_end_ = *newest_end_ms / 1'000;
      part_ = newest_end_ < at_ ? Part::open : Part::ended_later;
      break;
    }
    case Part::ended_later: {  // these were active in the range, too
      constexpr std::int64_t kDay = 86'400;
      std::int64_t from = std::exchange(at_, at_ + std::max(part_seconds_, kDay));
      read = read_running(EndedIn{from * 1'000, at_ * 1'000});
      if (at_ > newest_end_) part_ = Part::open;
      break;
    }
    case Part::open:
      read = read_running(std::nullopt);
      part_ = Part::done;
      break;
    case Part::done:
      break;
  }
  if (!read) return fail(std::move(read.error()));
  return part_ == Part::done;
}

Stats StatsScan::stats() {
  Stats stats;
  for (const auto& [key, change] : changes_) {
    StatsSeries& series = series_of(key);
    std::int64_t running = 0;
    for (std::size_t step = 0; step < series.points.size(); ++step) {
      running += change[step];
      series.points[step].running = static_cast<std::uint64_t>(running);
    }
  }
  for (auto& [key, series] : series_) {
    stats.totals.amounts += total_of(series);
    stats.series.push_back(std::move(series));
  }
  std::ranges::stable_sort(stats.series, [](const StatsSeries& a, const StatsSeries& b) {
    LedgerAmounts left = total_of(a);
    LedgerAmounts right = total_of(b);
    return std::pair(right.nano_usd, right.events) < std::pair(left.nano_usd, left.events);
  });
  join_the_rest(stats.series);
  stats.tools = tool_stats(tools_);
  stats.tasks = tasks_;
  stats.totals.running = open_;
  return stats;
}

Result<Stats> read_stats(const Ledger& ledger, const LedgerRange& range) {
  StatsScan scan(ledger, range);
  for (;;) {
    auto done = scan.step();
    if (!done) return fail(std::move(done.error()));
    if (*done) return scan.stats();
  }
}

Result<LedgerRange> stats_range(std::int64_t from_ms, std::int64_t to_ms, std::int64_t step_seconds,
                                LedgerRange::By by) {
  LedgerRange range;
  range.by = by;
  range.from = from_ms / 1'000 / kMinute * kMinute;
  range.to = (to_ms + 999) / 1'000;
  if (range.from < 0 || to_ms <= from_ms) return fail(bad("from", "`from` must be before `to`."));
  std::int64_t length = range.to - range.from;
  range.step = step_seconds == 0 ? round_step(length) : (step_seconds + kMinute - 1) / kMinute * kMinute;
  if (range.step % kLedgerCoarseSeconds == 0) range.from -= range.from % kLedgerCoarseSeconds;
  if (steps_of(range) > kMaxStatsPoints) {
    auto least = length / static_cast<std::int64_t>(kMaxStatsPoints) + 1;
    return fail(bad("step", "This range has at most " + std::to_string(kMaxStatsPoints) +
                                " points: `step` must be at least " + std::to_string(least) + " seconds."));
  }
  return range;
}

Result<LedgerRange> fit_range(const Ledger& ledger, LedgerRange range) {
  if (range.step % kLedgerCoarseSeconds == 0) return range;
  auto minutes_from = ledger.minutes_from();
  if (!minutes_from) return fail(minutes_from.error());
  if (range.from >= *minutes_from) return range;
  range.step += kLedgerCoarseSeconds - range.step % kLedgerCoarseSeconds;
  range.from -= range.from % kLedgerCoarseSeconds;
  return range;
}

Result<std::int64_t> time_named(std::string_view text, std::int64_t now_ms) {
  if (text == "now") return now_ms;
  if (!text.starts_with('-')) {
    auto time = parse_timestamp(text);
    if (!time) return fail(ErrorCode::invalid_argument, "bad_parameter", "Write a time as RFC 3339, or as -24h.");
    return *time;
  }
  std::int64_t count = 0;
  auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), count);
  constexpr std::array<std::pair<char, std::int64_t>, 4> kUnits{
      {{'s', 1'000}, {'m', 60'000}, {'h', 3'600'000}, {'d', 86'400'000}}};
  for (auto [unit, ms] : kUnits) {
    bool fits = error == std::errc() && end + 1 == text.data() + text.size() && *end == unit;
    if (fits && count >= 0 && count <= kMaxTimeUnits) return now_ms - count * ms;
  }
  return fail(ErrorCode::invalid_argument, "bad_parameter", "Write a time before now as -90s, -30m, -24h or -7d.");
}

}  // namespace shepherd
