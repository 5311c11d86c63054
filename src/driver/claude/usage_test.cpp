#include "driver/claude/usage.h"

#include <gtest/gtest.h>

#include "driver/claude/test_recording.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "model/task_fold.h"

namespace shepherd {
namespace {

class ClaudeUsageTest : public testing::Test {
 protected:
  void message(const std::string& id, int output_tokens) {
    std::string line = R"({"usage":{"input_tokens":2,"output_tokens":)" + std::to_string(output_tokens) + "}}";
    ASSERT_TRUE(record_.parse(line, [](std::string_view key, std::string_view) { return key == "usage"; }));
    usage_.message(id, "opus", record_, record_.find("usage"));
  }
  void result(const std::string& line) {
    ASSERT_TRUE(record_.parse(line, [](std::string_view, std::string_view) { return true; }));
    usage_.result(record_);
  }
  bool says(const std::string& member) const { return usage_.data_without_result().find(member) != std::string::npos; }

  JsonSlices record_;
  ClaudeUsage usage_;
};

// An agent that worked for hours without a result: what it remembered of its messages grew to 10,000 of them, and the
// tokens of later ones were not counted.
TEST_F(ClaudeUsageTest, MessagesPastTheRememberedOnesStillCount) {
  std::size_t messages = 50 * kOpenMessages;
  for (std::size_t i = 0; i < messages; ++i) message("m" + std::to_string(i), 3);
  EXPECT_TRUE(says(R"("inputTokens":)" + std::to_string(2 * messages) + ",")) << usage_.data_without_result();
  EXPECT_TRUE(says(R"("outputTokens":)" + std::to_string(3 * messages) + ",")) << usage_.data_without_result();
  EXPECT_TRUE(says(R"("apiCalls":)" + std::to_string(messages) + ",")) << usage_.data_without_result();
}

TEST_F(ClaudeUsageTest, AMessagePrintedOncePerBlockCountsOnceWithItsLargestOutput) {
  for (int tokens : {1, 7, 5}) message("m", tokens);
  EXPECT_TRUE(says(R"("inputTokens":2,"outputTokens":7,)")) << usage_.data_without_result();
  EXPECT_TRUE(says(R"("apiCalls":1,)"));
}

TEST_F(ClaudeUsageTest, AResultReplacesEverythingBeforeIt) {
  for (std::size_t i = 0; i < 2 * kOpenMessages; ++i) message("m" + std::to_string(i), 3);
  result(R"({"total_cost_usd":0.5,"modelUsage":{"opus":{"inputTokens":10,"outputTokens":20,"costUSD":0.5}}})");
  EXPECT_TRUE(says(R"("inputTokens":10,"outputTokens":20,)")) << usage_.data_without_result();
  message("later", 4);
  EXPECT_TRUE(says(R"("inputTokens":12,"outputTokens":24,)")) << usage_.data_without_result();
}

TEST_F(ClaudeUsageTest, WhatIsToldInBetweenIsToldOnce) {
  EXPECT_FALSE(usage_.has_untold());
  message("m", 1);
  EXPECT_TRUE(usage_.has_untold());
  EXPECT_NE(usage_.tell_so_far().find(R"("inputTokens":2,"outputTokens":1,)"), std::string::npos);
  message("m", 1);
  EXPECT_FALSE(usage_.has_untold()) << "another block of the same message";
  message("n", 1);
  EXPECT_NE(usage_.tell_so_far().find(R"("turns":0,)"), std::string::npos);
  EXPECT_EQ(usage_.tokens(), 6U);
  result(R"({"total_cost_usd":0.5,"modelUsage":{"opus":{"inputTokens":4,"outputTokens":9,"costUSD":0.5}}})");
  EXPECT_FALSE(usage_.has_untold()) << "the result tells it";
  EXPECT_EQ(usage_.tokens(), 13U);
}

// A long turn as it was recorded, a minute between two lines: tokens so far are told on the way, what it costs when the
// agent says so, and the result's totals are neither more nor less for it.
TEST(ClaudeLiveUsage, TokensAreToldDuringATurn) {
  ClaudeRecording recording = claude_recording("claude-02-partial.jsonl");
  ClaudeCode driver;
  ASSERT_TRUE(driver.launch(launch_as(OutputFormat::bidirectional)).has_value());
  Actions out;
  std::int64_t now = kRecordingStart;
  for (const auto& line : lines_of(recording.out)) {
    driver.record(line, now += 1'000, out);
    if (auto due = driver.hints().tick_at_ms; due && *due <= now + 500) driver.tick(now += 500, out);
  }
  TaskState state;
  std::uint64_t before = 0, told = 0, number = 0;
  for (const auto& event : out.events()) {
    std::string_view body = std::string_view(event.json).substr(1, event.json.size() - 2);
    fold(state, {++number, event.type, now, "", body});
    if (event.type != EventType::usage) continue;
    EXPECT_GE(total_tokens(state.usage), before);
    before = total_tokens(state.usage);
    bool partial = find_member(find_member(event.json, "data"), "partial") == "true";
    if (!partial) break;
    ++told;
    EXPECT_GT(total_tokens(state.usage), 0U);
    EXPECT_EQ(state.usage.cost_usd, 0) << "it has not said it";
  }
  EXPECT_GE(told, 2U);
  EXPECT_GT(state.usage.cost_usd, 0);
  EXPECT_EQ(driver.hints().tick_at_ms, std::nullopt) << "all is told";
  auto usual = translate(recording, recording.out);
  std::string totals;
  for (const auto& event : usual.out.events()) {
    if (event.type == EventType::usage) totals = find_member(event.json, "data");
  }
  EXPECT_EQ(total_tokens(state.usage), total_tokens(totals));
}

}  // namespace
}  // namespace shepherd
