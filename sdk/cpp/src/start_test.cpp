// Tests for the start of a stream: the task and the trace.
#include <gtest/gtest.h>

#include "shepherd/agent/task.h"
#include "shepherd/agent/trace_context.h"

namespace shepherd::agent {
namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceContext, ContinuesTheCallersTraceWithItsOwnSpan) {
  auto trace = TraceContext::continued(std::string("00-") + kTrace + "-00f067aa0ba902b7-01");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->trace_id, kTrace);
  EXPECT_EQ(trace->span_id.size(), 16U);
  EXPECT_NE(trace->span_id, "00f067aa0ba902b7");
  EXPECT_TRUE(TraceContext::continued(std::string("01-") + kTrace + "-00f067aa0ba902b7-01-later").has_value());
}

TEST(TraceContext, RefusesWhatIsMalformed) {
  for (const char* text : {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"}) {
    EXPECT_FALSE(TraceContext::continued(text).has_value()) << text;
  }
}

TEST(TraceContext, FreshOnesDiffer) {
  TraceContext one = TraceContext::fresh(), other = TraceContext::fresh();
  EXPECT_EQ(one.trace_id.size(), 32U);
  EXPECT_NE(one.trace_id, other.trace_id);
}

TEST(Task, HasItsMembersAndTheWholeText) {
  std::string problem;
  std::string json = R"({"id":"task-1","goal":"look","context":{"depth":2},"extra":true})";
  auto task = parse_task(json, problem);
  ASSERT_TRUE(task.has_value()) << problem;
  EXPECT_EQ(task->id, "task-1");
  EXPECT_EQ(task->goal, "look");
  EXPECT_EQ(task->context, R"({"depth":2})");
  EXPECT_EQ(task->json, json);
}

TEST(Task, NeedsNoMember) {
  std::string problem;
  auto task = parse_task(R"({"id":null})", problem);
  ASSERT_TRUE(task.has_value()) << problem;
  EXPECT_EQ(task->id + task->goal + task->context, "");
}

TEST(Task, SaysWhatIsWrong) {
  for (const char* json : {"", "[]", "\"text\"", "{\"id\":", "{\"id\":7}", "{\"goal\":{}}"}) {
    std::string problem;
    EXPECT_FALSE(parse_task(json, problem).has_value()) << json;
    EXPECT_EQ(problem.find("task_json"), 0U) << json << ": " << problem;
  }
}

}  // namespace
}  // namespace shepherd::agent
