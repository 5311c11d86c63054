#include "driver/claude_usage.h"

#include <gtest/gtest.h>

#include "driver/limits.h"

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

}  // namespace
}  // namespace shepherd
