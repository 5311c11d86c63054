#include "runner/usage_cost.h"

#include <gtest/gtest.h>

#include "driver/registry/registry.h"
#include "json/scan.h"

namespace shepherd {
namespace {

PriceTable prices() {
  return {{"gpt-5.1", {1.0, 10.0, 0.1, {}, "2026-11-01"}}, {"gpt-5.1-mini", {0.5, 2.0, {}, {}, "2026-10-01"}}};
}

// As Codex' driver writes it.
DriverEvent usage(std::string_view models, std::string_view more = "",
                  std::string_view tokens =
                      R"("inputTokens":1000000,"outputTokens":100000,"cacheReadTokens":2000000,"cacheWriteTokens":0)") {
  std::string json = R"({"type":"usage","timestamp":"t","data":{)" + std::string(tokens) +
                     R"(,"toolUses":1,"models":{)" + std::string(models) + "}" + std::string(more) +
                     R"(},"sessionID":"s"})";
  return {EventType::usage, json, ""};
}
constexpr std::string_view kGpt =
    R"("gpt-5.1":{"inputTokens":1000000,"outputTokens":100000,"cacheReadTokens":2000000,"cacheWriteTokens":0})";

class UsageCostsTest : public ::testing::Test {
 protected:
  std::string filled(DriverEvent event, std::string_view driver = "codex") {
    costs_.add_to(event, make_driver(driver)->traits());
    return std::string(find_member(event.json, "data"));
  }
  UsageCosts costs_{prices()};
};

TEST_F(UsageCostsTest, TokensAreGivenTheCostOfTheirModel) {
  std::string data = filled(usage(kGpt));
  EXPECT_DOUBLE_EQ(*number_value(find_member(data, "costUSD")), 1.0 + 1.0 + 0.2);
  EXPECT_EQ(find_member(data, "priced"), R"({"asOf":"2026-11-01"})");
  EXPECT_EQ(find_member(data, "toolUses"), "1") << "the rest stays";
  EXPECT_DOUBLE_EQ(*costs_.cost_usd(), 2.2);
}

TEST_F(UsageCostsTest, TheNewestTotalsOfEachSessionCount) {
  filled(usage(kGpt));
  filled(usage(kGpt));
  EXPECT_DOUBLE_EQ(*costs_.cost_usd(), 2.2) << "they are totals, not steps";
  DriverEvent other = usage(kGpt);
  other.json.replace(other.json.find(R"("sessionID":"s")"), 15, R"("sessionID":"t")");
  filled(other);
  EXPECT_DOUBLE_EQ(*costs_.cost_usd(), 4.4);
}

TEST_F(UsageCostsTest, SeveralModelsHaveTheOldestDate) {
  std::string data = filled(usage(
      R"("gpt-5.1":{"inputTokens":1000000,"outputTokens":0},"gpt-5.1-mini":{"inputTokens":0,"outputTokens":100000})",
      "", R"("inputTokens":1000000,"outputTokens":100000)"));
  EXPECT_DOUBLE_EQ(*number_value(find_member(data, "costUSD")), 1.0 + 0.2);
  EXPECT_EQ(find_member(data, "priced"), R"({"asOf":"2026-10-01"})");
}

TEST_F(UsageCostsTest, NothingIsGuessed) {
  auto unpriced = [&](const DriverEvent& event) {
    std::string data = filled(event);
    return find_member(data, "unpriced") == "true" && find_member(data, "costUSD").empty();
  };
  EXPECT_TRUE(unpriced(usage(R"("gpt-6":{"inputTokens":1000000,"outputTokens":100000,"cacheReadTokens":2000000})")));
  EXPECT_EQ(costs_.missing(), "the model gpt-6");
  EXPECT_TRUE(unpriced(usage(""))) << "tokens of no named model";
  EXPECT_TRUE(unpriced(usage(R"("gpt-5.1":{"inputTokens":5,"outputTokens":5})"))) << "tokens besides the named ones";
  EXPECT_TRUE(
      unpriced(usage(R"("gpt-5.1-mini":{"inputTokens":1000000,"outputTokens":100000,"cacheReadTokens":2000000})")))
      << "no price for what the cache gave";
  EXPECT_EQ(costs_.cost_usd(), std::nullopt);
}

TEST_F(UsageCostsTest, WhatTheAgentTellsIsKept) {
  std::string own = filled(usage(kGpt, R"(,"costUSD":0.5)"));
  EXPECT_EQ(find_member(own, "costUSD"), "0.5");
  EXPECT_TRUE(find_member(own, "priced").empty());
  EXPECT_EQ(costs_.cost_usd(), std::nullopt);
  DriverEvent nothing = usage("", "", R"("inputTokens":0,"outputTokens":0)");
  EXPECT_EQ(filled(nothing), find_member(nothing.json, "data")) << "what used nothing costs nothing";
  DriverEvent partial = usage(R"("opus":{"inputTokens":1000000})", R"(,"partial":true)");
  EXPECT_EQ(filled(partial, "claude"), find_member(partial.json, "data")) << "its cost comes with the turn's end";
  EXPECT_EQ(find_member(filled(partial, "codex"), "unpriced"), "true");
}

}  // namespace
}  // namespace shepherd
