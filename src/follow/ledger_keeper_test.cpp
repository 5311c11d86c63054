#include "follow/ledger_keeper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/limits.h"
#include "follow/limits.h"
#include "model/wire_json.h"
#include "store/limits.h"
#include "store/memory/test_log.h"
#include "store/sqlite/sqlite_ledger.h"
#include "views/stats.h"

namespace shepherd {
namespace {

constexpr std::int64_t kStart = 1'700'006'400'000;  // a full hour

class LedgerKeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string directory = (std::filesystem::temp_directory_path() / "shepherd-ledger-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    log_.clock.advance_ms(kStart - log_.clock.wall_ms());
    open();
  }
  void TearDown() override {
    close();
    std::filesystem::remove_all(directory_);
  }
  void open() {
    auto ledger = open_sqlite_ledger((directory_ / "ledger.db").string(), log_.store.heads({""})->at(""));
    ASSERT_TRUE(ledger) << ledger.error().message;
    ledger_ = std::move(*ledger);
    keeper_ = std::make_unique<LedgerKeeper>(log_.store, *ledger_, metrics_, log_.clock, policy_);
  }
  void close() {
    keeper_.reset();
    ledger_.reset();
  }
  void make_task(const std::string& id, const std::string& agent, const std::string& model = "") {
    log_.write([&](WriteTxn& txn) {
      TaskSpec spec;
      spec.id = id;
      spec.agent = agent;
      spec.model = model;
      ASSERT_TRUE(txn.create_task(spec, log_.clock.wall_ms(), "").has_value());
    });
  }
  void post(const std::string& task, const std::string& json) {
    auto drafts = decode_events(json, Framing::json, Intake{.now_ms = log_.clock.wall_ms()});
    ASSERT_TRUE(drafts) << drafts.error().message;
    log_.append(task, std::move(*drafts));
  }
  // The keeper runs at idle priority, so a spinning test would starve it.
  template <typename Fact>
  static void wait_until(Fact fact) {
    auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!fact()) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void caught_up() {
    std::uint64_t head = log_.store.heads({""})->at("");
    wait_until([&] {
      keeper_->wake();
      return ledger_->kept_through().value_or(0) == head;
    });
  }
  Stats stats(std::int64_t step, LedgerRange::By by = LedgerRange::By::none) {
    caught_up();
    auto range = stats_range(kStart, kStart + 7'200'000, step, by);
    EXPECT_TRUE(range) << range.error().message;
    auto read = read_stats(*ledger_, *range);
    EXPECT_TRUE(read) << read.error().message;
    return read ? *read : Stats{};
  }
  static std::string usage(const std::string& cost, int input) {
    return R"({"type":"usage","sessionID":"s","data":{"costUSD":)" + cost + R"(,"inputTokens":)" +
           std::to_string(input) + "}}";
  }

  std::filesystem::path directory_;
  TestLog log_;
  MetricRegistry metrics_;
  LedgerPolicy policy_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<LedgerKeeper> keeper_;
};

TEST_F(LedgerKeeperTest, RunningTotalsBecomeWhatEachMinuteAdded) {
  make_task("t", "claude");
  post("t", R"({"type":"session_start","sessionID":"s","data":{"model":"m1"}})");
  post("t", usage("0.25", 100));
  log_.clock.advance_ms(60'000);
  post("t", usage("0.75", 150));
  post("t", R"({"type":"error","summary":"oops"})");
  log_.clock.advance_ms(3'540'000);  // the next hour
  post("t", usage("1", 150));
  post("t", R"({"type":"status","data":{"state":"failed"}})");

  Stats by_minute = stats(60);
  ASSERT_EQ(by_minute.series.size(), 1U);
  const auto& points = by_minute.series[0].points;
  ASSERT_EQ(points.size(), 120U);
  EXPECT_EQ(points[0].amounts.nano_usd, 250'000'000);
  EXPECT_EQ(points[0].amounts.input_tokens, 100U);
  EXPECT_EQ(points[0].amounts.events, 2U);
  EXPECT_EQ(points[1].amounts.nano_usd, 500'000'000);
  EXPECT_EQ(points[1].amounts.input_tokens, 50U);
  EXPECT_EQ(points[1].amounts.errors, 1U);
  EXPECT_EQ(points[60].amounts.nano_usd, 250'000'000);
  EXPECT_EQ(points[60].amounts.failed, 1U);
  EXPECT_EQ(points[0].running, 1U);
  EXPECT_EQ(points[30].running, 1U) << "under way, also when it says nothing";
  EXPECT_EQ(points[60].running, 1U);
  EXPECT_EQ(points[61].running, 0U);
  EXPECT_EQ(by_minute.totals.amounts.nano_usd, 1'000'000'000);
  EXPECT_EQ(by_minute.tasks, 1U);

  Stats by_hour = stats(3'600);
  ASSERT_EQ(by_hour.series[0].points.size(), 2U);
  EXPECT_EQ(by_hour.series[0].points[0].amounts.nano_usd, 750'000'000);
  EXPECT_EQ(by_hour.series[0].points[1].amounts.nano_usd, 250'000'000);
}

TEST_F(LedgerKeeperTest, ATaskUnderWayCountsFromItsBeginToTheEndOfTheRange) {
  make_task("early", "claude");
  make_task("late", "claude");
  log_.append("early", "begun");
  log_.clock.advance_ms(600'000);
  log_.append("late", "begun");
  const auto both = stats(60).series.at(0).points;
  EXPECT_EQ(both[9].running, 1U);
  EXPECT_EQ(both[10].running, 2U);
  EXPECT_EQ(both[119].running, 2U);
  Stats since = *read_stats(*ledger_, *stats_range(kStart + 300'000, kStart + 1'200'000, 60, LedgerRange::By::none));
  EXPECT_EQ(since.series.at(0).points[0].running, 1U) << "begun before the range";
  EXPECT_EQ(since.tasks, 2U);
}

TEST_F(LedgerKeeperTest, ARestartGoesOnWhereItStopped) {
  make_task("t", "claude");
  post("t", usage("0.25", 100));
  caught_up();
  close();
  post("t", usage("0.75", 100));
  open();
  EXPECT_EQ(stats(3'600).totals.amounts.nano_usd, 750'000'000);
  close();
  open();
  EXPECT_EQ(stats(3'600).totals.amounts.nano_usd, 750'000'000) << "nothing is counted twice";
}

TEST_F(LedgerKeeperTest, WhatWasSpentOutlivesTheEvents) {
  make_task("t", "claude");
  post("t", usage("0.25", 100));
  caught_up();
  log_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("t").has_value()); });
  keeper_->wake();
  EXPECT_EQ(stats(3'600).totals.amounts.nano_usd, 250'000'000);
}

TEST_F(LedgerKeeperTest, ByAgentAndByModel) {
  make_task("a", "claude", "opus");
  make_task("b", "claude");
  make_task("c", "");
  post("a", usage("1", 1));
  post("b", R"({"type":"session_start","sessionID":"s","data":{"model":"haiku"}})");
  post("b", usage("2", 1));
  post("c", R"({"type":"log","summary":"external"})");
  auto keys = [](const Stats& stats) {
    std::string text;
    for (const StatsSeries& series : stats.series) {
      text += "[" + series.key + " " + std::to_string(series.points[0].amounts.nano_usd / 1'000'000'000) + " " +
              std::to_string(series.points[0].running) + "]";
    }
    return text;
  };
  EXPECT_EQ(keys(stats(3'600, LedgerRange::By::agent)), "[claude 3 2][ 0 1]");
  EXPECT_EQ(keys(stats(3'600, LedgerRange::By::model)), "[haiku 2 1][opus 1 1][ 0 1]");
}

TEST_F(LedgerKeeperTest, ToolsHaveCallsFailuresAndTimes) {
  make_task("t", "claude");
  auto call = [&](int number, int ms, bool success) {
    std::string id = std::to_string(number);
    std::string end = format_timestamp(kStart + ms);
    post("t", R"({"type":"tool_call","tool":"Bash","callID":"c)" + id + R"(","timestamp":")" +
                  format_timestamp(kStart) + "\"}");
    post("t", R"({"type":"tool_result","tool":"Bash","callID":"c)" + id + R"(","timestamp":")" + end +
                  R"(","output":{"success":)" + (success ? "true" : "false") + R"(,"summary":""}})");
  };
  for (int i = 0; i < 18; ++i) call(i, 100, true);
  call(18, 10'000, true);
  call(19, 10'000, false);
  post("t", R"({"type":"tool_call","tool":"Read","callID":"r"})");
  Stats read = stats(60);
  ASSERT_EQ(read.tools.size(), 2U);
  EXPECT_EQ(read.tools[0].tool, "Bash");
  EXPECT_EQ(read.tools[0].calls, 20U);
  EXPECT_EQ(read.tools[0].failures, 1U);
  EXPECT_NEAR(read.tools[0].p50_ms, 100, 12);
  EXPECT_NEAR(read.tools[0].p95_ms, 10'000, 1'200);
  EXPECT_EQ(read.tools[1].tool, "Read");
  EXPECT_EQ(read.tools[1].p95_ms, 0);
}

// A denied call has no time and is no failure of the tool. The median of two calls is between them.
TEST_F(LedgerKeeperTest, DeniedCallsAreNoFailuresAndAMedianIsInTheMiddle) {
  make_task("t", "claude");
  auto call = [&](const std::string& id, int ms, const std::string& output) {
    post("t", R"({"type":"tool_call","tool":"Bash","callID":")" + id + "\"}");
    post("t", R"({"type":"tool_result","tool":"Bash","callID":")" + id + R"(","durationMS":)" + std::to_string(ms) +
                  R"(,"output":)" + output + "}");
  };
  call("a", 100, R"({"success":true,"summary":""})");
  call("b", 10'000, R"({"success":false,"summary":"exit code 1"})");
  call("c", 60'000, R"({"success":false,"denied":true,"summary":"An operator denied this."})");
  Stats read = stats(60);
  ASSERT_EQ(read.tools.size(), 1U);
  EXPECT_EQ(read.tools[0].calls, 3U);
  EXPECT_EQ(read.tools[0].failures, 1U);
  EXPECT_NEAR(read.tools[0].p50_ms, 5'050, 600);
  EXPECT_NEAR(read.tools[0].p95_ms, 10'000, 1'200);
}

TEST_F(LedgerKeeperTest, FindingsAreFoundAndForgotten) {
  make_task("a", "claude");
  make_task("b", "claude");
  post("a", R"([{"type":"log","summary":"x"},{"type":"finding","summary":"f1","data":{"severity":"high"}}])");
  post("b", R"({"type":"finding","summary":"f2","data":{"severity":"low"}})");
  post("b", R"({"type":"finding","summary":"f3","data":{"severity":"high"}})");
  caught_up();
  auto found = [&](const FindingFilter& filter) {
    std::string text;
    auto places = ledger_->findings(filter);
    EXPECT_TRUE(places) << places.error().message;
    for (const FindingPlace& place : *places) {
      text += place.task + std::to_string(place.sequence) + place.severity + " ";
    }
    return text;
  };
  EXPECT_EQ(found({}), "b2high b1low a2high ");
  EXPECT_EQ(found({.severity = "high"}), "b2high a2high ");
  EXPECT_EQ(found({.task = "b"}), "b2high b1low ");
  EXPECT_EQ(found({.limit = 1}), "b2high ");
  EXPECT_EQ(found({.before = 4}), "b1low a2high ");
  log_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("b").has_value()); });
  keeper_->wake();
  wait_until([&] { return found({}) == "a2high "; });
}

TEST_F(LedgerKeeperTest, ALedgerThatIsAheadOfItsStoreBeginsAnew) {
  make_task("t", "claude");
  post("t", usage("0.25", 100));
  caught_up();
  close();
  auto other = open_sqlite_ledger((directory_ / "ledger.db").string(), 0);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(*(*other)->kept_through(), 0U);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "ledger.db.old")) << "what it knew is set aside, not lost";
}

constexpr std::int64_t kDayMs = 86'400'000;

TEST_F(LedgerKeeperTest, OldFiguresBecomeCoarserAndThenGo) {
  make_task("t", "claude");
  log_.clock.advance_ms(-10 * 60'000);
  log_.append("t", "ten minutes before the hour");
  log_.clock.advance_ms(10 * 60'000);
  log_.append("t", "at the full hour");
  caught_up();
  auto events = [&](std::int64_t days_ago, std::int64_t step) {
    std::int64_t now_ms = log_.clock.wall_ms();
    auto range = stats_range(now_ms - days_ago * kDayMs - 3'600'000, now_ms - days_ago * kDayMs + 3'600'000, step,
                             LedgerRange::By::none);
    auto fitted = fit_range(*ledger_, *range);
    return std::pair(fitted->step, read_stats(*ledger_, *fitted)->totals.amounts.events);
  };
  EXPECT_EQ(events(0, 60), std::pair(std::int64_t{60}, std::uint64_t{2}));

  log_.clock.advance_ms((kLedgerMinuteDays + 1) * kDayMs);
  log_.append("t", "so that there are minutes, but younger ones");
  caught_up();
  wait_until([&] {
    keeper_->wake();
    return events(kLedgerMinuteDays + 1, 60).first != 60;
  });
  EXPECT_EQ(events(kLedgerMinuteDays + 1, 60), std::pair(std::int64_t{900}, std::uint64_t{2}))
      << "by the quarter of an hour";
  EXPECT_EQ(events(0, 60), std::pair(std::int64_t{60}, std::uint64_t{1}));

  log_.clock.advance_ms((kLedgerDays - kLedgerMinuteDays) * kDayMs);
  log_.append("t", "a year later");
  caught_up();
  wait_until([&] {
    keeper_->wake();
    return events(kLedgerDays + 1, 900).second == 0;
  });
  EXPECT_EQ(events(kLedgerDays - kLedgerMinuteDays, 900).second, 1U) << "what is younger stays";
}

TEST_F(LedgerKeeperTest, OverItsBoundItLivesOnFewerDays) {
  close();
  policy_ = {0, 1};  // smaller than any day, so only the newest day is left
  make_task("t", "claude");
  for (int day = 0; day < 5; ++day) {
    log_.append("t", "once a day");
    log_.clock.advance_ms(kDayMs);
  }
  open();
  caught_up();
  std::int64_t then_ms = log_.clock.wall_ms();
  auto events = [&](std::int64_t end_ms) {
    LedgerRange range{kStart / 1'000 / 900 * 900, end_ms / 1'000, 900, LedgerRange::By::none};
    return read_stats(*ledger_, range)->totals.amounts.events;
  };
  wait_until([&] {
    log_.clock.advance_ms(kLedgerTrimInterval.count());
    keeper_->wake();
    return events(then_ms) <= 2;
  });
  log_.clock.advance_ms(kLedgerTrimInterval.count());
  log_.append("t", "one more");
  caught_up();
  EXPECT_GE(events(log_.clock.wall_ms()), 2U);
}

TEST_F(LedgerKeeperTest, ATaskThatWasDeletedInACrashDoesNotRunForEver) {
  make_task("gone", "claude");
  log_.append("gone", "begun");
  EXPECT_EQ(stats(60).totals.running, 1U);
  close();
  log_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("gone").has_value()); });
  open();
  wait_until([&] { return ledger_->tasks()->empty(); });
  EXPECT_EQ(stats(60).totals.running, 0U);
}

TEST_F(LedgerKeeperTest, WordsOfATaskThatWasDeletedInACrashGo) {
  make_task("gone", "claude");
  make_task("stays", "claude");
  post("gone",
       R"([{"type":"tool_call","tool":"Secret","callID":"a"},{"type":"tool_call","tool":"Bash","callID":"b"}])");
  post("gone", R"({"type":"status","data":{"state":"completed"}})");
  post("stays", R"({"type":"tool_call","tool":"Bash","callID":"c"})");
  ASSERT_EQ(stats(60).tools.size(), 2U);
  close();
  log_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("gone").has_value()); });
  open();
  wait_until([&] { return ledger_->tasks().value() == std::vector<std::string>{"stays"}; });
  Stats left = stats(60);
  ASSERT_EQ(left.tools.size(), 1U);
  EXPECT_EQ(left.tools[0].tool, "Bash");
  EXPECT_EQ(left.tools[0].calls, 2U);
  EXPECT_EQ(left.tasks, 2U) << "that there was one stays known";
}

TEST_F(LedgerKeeperTest, ALedgerBehindTheKeptChangesSkipsNoEvent) {
  make_task("t", "claude");
  make_task("gone", "claude");
  log_.append("t", "first");
  log_.append("gone", "first");
  EXPECT_EQ(stats(60).totals.amounts.events, 2U);
  for (int i = 0; i < 3; ++i) log_.append("t", "while it was away");
  log_.write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.delete_task("gone"));
    for (std::uint64_t i = 0; i <= kKeptChanges; ++i) ASSERT_TRUE(txn.put_record("k", std::to_string(i % 10), "1"));
  });
  log_.append("t", "afterwards");
  ASSERT_TRUE(log_.store.changes({2, 2}, {})->lost);
  EXPECT_EQ(stats(60).totals.amounts.events, 6U);
  EXPECT_EQ(ledger_->tasks().value(), std::vector<std::string>{"t"}) << "it looked for what is gone";
}

TEST_F(LedgerKeeperTest, DamageThatShowsLaterIsMendedByTheNextStart) {
  make_task("t", "claude");
  for (int i = 0; i < 200; ++i) {
    log_.append("t", "filler");
    log_.clock.advance_ms(60'000);
  }
  caught_up();
  close();
  std::string path = (directory_ / "ledger.db").string();
  // Damages every page but the first two: the file opens, and fails when it is read.
  auto size = std::filesystem::file_size(path);
  ASSERT_GT(size, 8'192U * 2);
  std::FILE* file = std::fopen(path.c_str(), "r+");
  std::fseek(file, 8'192, SEEK_SET);
  std::string rubbish(size - 8'192, 'x');
  ASSERT_EQ(std::fwrite(rubbish.data(), 1, rubbish.size(), file), rubbish.size());
  std::fclose(file);
  auto damaged = open_sqlite_ledger(path, 1'000);
  if (damaged) {
    EXPECT_FALSE((*damaged)->amounts({0, kStart / 1'000 * 2, 900, LedgerRange::By::none}));
    damaged->reset();
  }
  open();
  EXPECT_TRUE(std::filesystem::exists(directory_ / "ledger.db.old"));
  caught_up();
  EXPECT_FALSE(std::filesystem::exists(directory_ / "ledger.db-damaged"));
  LedgerRange all{0, kStart / 1'000 * 2, kStart / 1'000 * 2 / 900 * 900, LedgerRange::By::none};
  EXPECT_EQ(read_stats(*ledger_, all)->totals.amounts.events, 200U);
}

TEST(StatsRange, IsOnTheGridOfMinutes) {
  using By = LedgerRange::By;
  auto range = stats_range(90'500, 3'600'000, 90, By::none);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from, 60);
  EXPECT_EQ(range->to, 3'600);
  EXPECT_EQ(range->step, 120);
  EXPECT_EQ(stats_range(0, 86'400'000, 0, By::none)->step, 900) << "about a hundred points";
  EXPECT_EQ(stats_range(5'400'000, 86'400'000, 3'600, By::none)->from, 5'400) << "a day may begin at half past";
  EXPECT_EQ(stats_range(5'460'000, 86'400'000, 3'600, By::none)->from, 5'400);
  EXPECT_EQ(stats_range(5, 5, 0, By::none).error().reason, "bad_parameter");
  EXPECT_EQ(stats_range(0, 60'060'000, 60, By::none).error().reason, "bad_parameter") << "1001 points";
  EXPECT_TRUE(stats_range(0, 60'000'000, 60, By::none));
}

TEST(StatsRange, NamesTimes) {
  EXPECT_EQ(*time_named("-24h", 100'000'000), 13'600'000);
  EXPECT_EQ(*time_named("-90s", 100'000), 10'000);
  EXPECT_EQ(*time_named("now", 5), 5);
  EXPECT_EQ(*time_named("1970-01-01T00:00:01Z", 0), 1'000);
  for (const char* wrong : {"", "-", "-h", "-5", "-5w", "-5hh", "yesterday", "--5h", "-99999999999999999999d"}) {
    EXPECT_FALSE(time_named(wrong, 0)) << wrong;
  }
}

}  // namespace
}  // namespace shepherd
