#include "views/agent_figures.h"

#include <gtest/gtest.h>

#include "views/limits.h"

namespace shepherd {
namespace {

constexpr std::int64_t kStart = 1'700'000'040;  // the first second of a minute

std::string text_of(const AgentFigures& figures) {
  std::string out;
  figures.append_prometheus(out);
  return out;
}

bool has(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(AgentFigures, CountsWhatABatchAdds) {
  AgentFigures figures(kStart * 1'000 + 30'000);
  LedgerBatch batch;
  LedgerWho who{"claude", "op\"us"};
  batch.amounts[{kStart, who}] = {.nano_usd = 250'000'000, .input_tokens = 3, .cache_write_tokens = 4, .errors = 1};
  batch.amounts[{kStart - 60, who}] = {.nano_usd = 9'000'000'000};  // before this server started
  batch.tools[{kStart, "Bash"}] = {2, 1, {{time_class(500), 1}, {time_class(120'000), 1}}};
  batch.ended.push_back({who, "failed", kStart * 1'000, kStart * 1'000 + 90'000});
  figures.take(batch);
  figures.take(batch);
  std::string text = text_of(figures);
  EXPECT_TRUE(has(text, R"(shepherd_cost_usd_total{agent="claude",model="op\"us"} 0.5)")) << text;
  EXPECT_TRUE(has(text, R"(shepherd_tokens_total{agent="claude",model="op\"us",class="input"} 6)"));
  EXPECT_TRUE(has(text, R"(shepherd_tokens_total{agent="claude",model="op\"us",class="cache_write"} 8)"));
  EXPECT_TRUE(has(text, R"(shepherd_agent_errors_total{agent="claude",model="op\"us"} 2)"));
  EXPECT_TRUE(has(text, R"(shepherd_tool_calls_total{tool="Bash"} 4)"));
  EXPECT_TRUE(has(text, R"(shepherd_tool_failures_total{tool="Bash"} 2)"));
  EXPECT_TRUE(has(text, R"(shepherd_tool_duration_seconds_bucket{tool="Bash",le="0.1"} 0)"));
  EXPECT_TRUE(has(text, R"(shepherd_tool_duration_seconds_bucket{tool="Bash",le="1"} 2)"));
  EXPECT_TRUE(has(text, R"(shepherd_tool_duration_seconds_bucket{tool="Bash",le="+Inf"} 4)"));
  EXPECT_TRUE(has(text, R"(shepherd_tasks_ended_total{state="failed",agent="claude",model="op\"us"} 2)"));
  EXPECT_TRUE(has(text, R"(shepherd_task_duration_seconds_bucket{le="60"} 0)"));
  EXPECT_TRUE(has(text, R"(shepherd_task_duration_seconds_bucket{le="300"} 2)"));
  EXPECT_TRUE(has(text, "shepherd_task_duration_seconds_sum 180"));
}

TEST(AgentFigures, TooManyNamesAreOne) {
  AgentFigures figures(0);
  LedgerBatch batch;
  for (std::size_t i = 0; i < kMaxFigureSeries + 5; ++i) batch.tools[{kStart, "tool" + std::to_string(i)}] = {1, 0, {}};
  figures.take(batch);
  figures.take(batch);
  std::string text = text_of(figures);
  EXPECT_TRUE(has(text, R"(shepherd_tool_calls_total{tool="tool0"} 2)"));
  EXPECT_TRUE(has(text, R"(shepherd_tool_calls_total{tool="other"} 10)"));
}

}  // namespace
}  // namespace shepherd
