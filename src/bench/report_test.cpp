#include "bench/report.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace shepherd::bench {
namespace {

namespace json = boost::json;

TEST(Report, TheJsonLineHasRowsTargetsAndMisses) {
  Report report(false);
  Row good{.id = "good", .title = "Good", .value = 1'234'567};
  good.judgements.push_back({.what = "x nchan", .value = 7, .bound = 6});
  Row slow{.id = "slow", .title = "Slow", .value = 9, .unit = Unit::milliseconds};
  slow.judgements.push_back({.what = "p99", .value = 9, .bound = 5, .at_least = false});
  report.add(good);
  report.add(slow);
  EXPECT_TRUE(report.clean()) << "a missed target is no defect";

  json::object line = json::parse(report.json_line({{"cores", 2}})).as_object();
  EXPECT_EQ(line["event"].as_string(), "bench");
  EXPECT_EQ(line["cores"].as_int64(), 2);
  EXPECT_EQ(line["missedTargets"], json::value(json::array{"slow"}));
  json::object row = line["rows"].as_array().at(0).as_object();
  EXPECT_EQ(row["value"].to_number<double>(), 1'235'000);
  EXPECT_TRUE(row["targets"].as_array().at(0).as_object()["met"].as_bool());
}

TEST(Report, ALossOrAFailureIsNotClean) {
  Report lossy(false);
  lossy.add({.id = "x", .title = "x", .defects = {.missing = 1}, .clean = false});
  EXPECT_FALSE(lossy.clean());
  Report failed(false);
  failed.failure("fanout", "refused");
  EXPECT_FALSE(failed.clean());
  json::object line = json::parse(failed.json_line({})).as_object();
  EXPECT_EQ(line["failures"].as_array().at(0).as_object()["error"].as_string(), "refused");
}

TEST(Report, FiguresForPeople) {
  EXPECT_EQ(figure_text(2'371'000, Unit::per_second), "2.37 M/s");
  EXPECT_EQ(figure_text(62'140, Unit::per_second), "62.1 k/s");
  EXPECT_EQ(figure_text(0.414, Unit::milliseconds), "0.41 ms");
  EXPECT_EQ(figure_text(1'500, Unit::bytes), "1500 B");
}

}  // namespace
}  // namespace shepherd::bench
