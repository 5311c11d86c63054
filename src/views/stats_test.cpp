#include "views/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "views/limits.h"

namespace shepherd {
namespace {

constexpr std::int64_t kDaySeconds = 86'400, kQuarterSeconds = 900;
constexpr std::int64_t kFrom = 20'000 * kDaySeconds;

// A ledger in which every minute, or quarter of an hour, cost its own number, and one task ended in each hour.
class CountingLedger final : public Ledger {
 public:
  CountingLedger(std::int64_t unit, std::int64_t newest_end) : unit_(unit), newest_end_(newest_end) {}

  Result<Curves> amounts(const LedgerRange& range) const override {
    check(range);
    Curves curves;
    for (std::int64_t at = range.from; at < range.to; at += unit_) {
      auto step = static_cast<std::size_t>((at - range.from) / range.step);
      curves[{"", step}].nano_usd += (at - kFrom) / unit_;
      ++curves[{"", step}].events;
    }
    return curves;
  }
  Result<std::map<std::string, ToolUse>> tools(const LedgerRange& range) const override {
    check(range);
    auto units = static_cast<std::uint64_t>((range.to - range.from + unit_ - 1) / unit_);
    return std::map<std::string, ToolUse>{{"Bash", {units, 1, {{time_class(100), units}}}}};
  }
  Result<std::vector<RunningTasks>> running(const LedgerRange& range,
                                            const std::optional<EndedIn>& ended) const override {
    auto step_of = [&](std::int64_t at) { return static_cast<std::size_t>((at - range.from) / range.step); };
    std::size_t last = step_of(range.to - 1);
    if (!ended) return std::vector<RunningTasks>{{"", 0, last, true, 3}};
    most_ended_ms = std::max(most_ended_ms, ended->to_ms - ended->from_ms);
    std::vector<RunningTasks> tasks;
    constexpr std::int64_t kHour = 3'600;
    for (std::int64_t at = (ended->from_ms / 1'000 + kHour - 1) / kHour * kHour; at * 1'000 < ended->to_ms;
         at += kHour) {
      if (at > newest_end_) break;
      std::size_t step = at < range.to ? step_of(at) : last;
      tasks.push_back({"", step, step, false, 1});
    }
    return tasks;
  }
  Result<std::int64_t> newest_end_ms() const override { return newest_end_ * 1'000; }

  Result<std::vector<std::string>> add(const LedgerBatch&) override { return std::vector<std::string>{}; }
  Result<void> purge() override { return {}; }
  Result<bool> trim(const LedgerKeep&) override { return false; }
  Result<std::uint64_t> kept_through() const override { return 0; }
  Result<std::vector<std::string>> tasks() const override { return std::vector<std::string>{}; }
  Result<std::int64_t> minutes_from() const override { return 0; }
  Result<std::string> state(const std::string&) const override { return std::string(); }
  Result<std::vector<FindingPlace>> findings(const FindingFilter&) const override {
    return std::vector<FindingPlace>{};
  }

  mutable std::int64_t most_units = 0, most_ended_ms = 0;  // of one read

 private:
  // Whole units, and read with this unit by the real ledger.
  void check(const LedgerRange& range) const {
    EXPECT_EQ((range.from - kFrom) % unit_, 0);
    EXPECT_EQ(range.from % kQuarterSeconds == 0 && range.step % kQuarterSeconds == 0, unit_ == kQuarterSeconds);
    most_units = std::max(most_units, (range.to - range.from + unit_ - 1) / unit_);
  }

  const std::int64_t unit_, newest_end_;
};

// Every figure is there once, whatever the steps of the chart and of the read have to do with each other.
TEST(StatsScan, ReadsALongRangeInBoundedSteps) {
  struct Chart {
    std::int64_t length, step;
  };
  for (Chart chart :
       {Chart{400 * kDaySeconds, kDaySeconds}, Chart{400 * kDaySeconds, 900 * 7},
        Chart{400 * kDaySeconds + 60, 400 * kDaySeconds}, Chart{30 * kDaySeconds, 5 * kDaySeconds},
        Chart{kDaySeconds, 60}, Chart{kDaySeconds + 77, 420}, Chart{kDaySeconds, 17'280}, Chart{3'600, 3'600}}) {
    SCOPED_TRACE(std::to_string(chart.length) + " by " + std::to_string(chart.step));
    std::int64_t unit = chart.step % kQuarterSeconds == 0 ? kQuarterSeconds : 60;
    constexpr std::int64_t kHoursLater = 30 * 24;
    CountingLedger ledger(unit, kFrom + chart.length + kHoursLater * 3'600);
    LedgerRange range{kFrom, kFrom + chart.length, chart.step, LedgerRange::By::none};
    StatsScan scan(ledger, range);
    std::int64_t steps = 1;
    for (auto done = scan.step(); done && !*done; done = scan.step()) ++steps;
    Stats stats = scan.stats();
    std::int64_t units = (chart.length + unit - 1) / unit;
    EXPECT_GE(steps, units / kStatsStepUnits);
    EXPECT_LE(ledger.most_units, kStatsStepUnits);
    EXPECT_LE(ledger.most_ended_ms, std::max(kStatsStepUnits * unit, kDaySeconds) * 1'000);

    ASSERT_EQ(stats.series.size(), 1U);
    const auto& points = stats.series[0].points;
    ASSERT_EQ(points.size(), static_cast<std::size_t>((chart.length + chart.step - 1) / chart.step));
    for (std::int64_t i = 0, at = 0; i < std::ssize(points); ++i) {
      LedgerAmounts wanted;
      for (; at < units && at * unit < (i + 1) * chart.step; ++at) {
        wanted.nano_usd += at;
        ++wanted.events;
      }
      EXPECT_EQ(points[static_cast<std::size_t>(i)].amounts.nano_usd, wanted.nano_usd) << i;
      EXPECT_EQ(points[static_cast<std::size_t>(i)].amounts.events, wanted.events) << i;
    }
    ASSERT_EQ(stats.tools.size(), 1U);
    EXPECT_EQ(stats.tools[0].calls, static_cast<std::uint64_t>(units));
    auto hours = static_cast<std::uint64_t>((chart.length + 3'599) / 3'600);
    std::uint64_t later = static_cast<std::uint64_t>((chart.length + kHoursLater * 3'600) / 3'600) - hours + 1;
    EXPECT_EQ(stats.tasks, hours + later + 3);
    EXPECT_EQ(stats.totals.running, 3U);
    if (chart.step == 3'600 * 24) {
      EXPECT_EQ(points[0].running, 24U + 3U);
    }
  }
}

}  // namespace
}  // namespace shepherd
