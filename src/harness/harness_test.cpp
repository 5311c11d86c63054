// The harness against real agents: the example, which does everything right, and agents with one defect each, which it
// must name, and nothing else.
#include "harness/harness.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/agent_command.h"

namespace shepherd::harness {
namespace {

struct Expectation {
  const char* flag;    // of the defective agent
  const char* check;   // that fails
  const char* defect;  // as it is named
};

void PrintTo(const Expectation& expectation, std::ostream* out) {
  *out << expectation.flag;
}

Report tested(std::vector<std::string> command, std::chrono::milliseconds answer = std::chrono::milliseconds(10'000)) {
  HarnessOptions options;
  options.command = std::move(command);
  options.answer = answer;
  options.run = answer * 2;
  auto report = test_agent(options);
  EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
  return report ? *report : Report();
}

std::set<std::string> defects(const Report& report) {
  std::set<std::string> found;
  for (const CheckResult& check : report.checks()) {
    for (const Defect& defect : check.defects) found.insert(std::string(check.id) + "/" + defect.code);
  }
  return found;
}

std::set<std::string> warnings(const Report& report) {
  std::set<std::string> found;
  for (const CheckResult& check : report.checks()) {
    if (check.verdict != Verdict::passed && check.verdict != Verdict::failed) found.insert(std::string(check.id));
  }
  return found;
}

TEST(Harness, FindsNothingWrongWithTheExample) {
  Report report = tested({NOTES_AGENT, "{address}"});
  EXPECT_EQ(defects(report), std::set<std::string>());
  EXPECT_EQ(warnings(report), std::set<std::string>()) << to_json(report);
}

TEST(Harness, FindsNothingWrongWithAnAgentWithoutDefect) {
  Report report = tested({DEFECTIVE_AGENT, "{address}"});
  EXPECT_EQ(defects(report), std::set<std::string>());
  EXPECT_EQ(warnings(report), std::set<std::string>({"trace_continued"})) << to_json(report);
}

TEST(Harness, SaysWhatACommandPrintedThatDoesNotListen) {
  HarnessOptions options;
  options.command = {"sh", "-c", "echo no such model >&2; exit 4"};
  auto report = test_agent(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("exit code 4"), std::string::npos) << report.error().message;
  EXPECT_NE(report.error().message.find("no such model"), std::string::npos) << report.error().message;
}

TEST(Harness, SaysThatNothingAnswers) {
  HarnessOptions options;
  options.target.address = *free_loopback_address();
  options.answer = std::chrono::milliseconds(300);
  auto report = test_agent(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().reason, "agent_unreachable");
}

class HarnessOnDefect : public testing::TestWithParam<Expectation> {};

// The time limit is short, because most of these agents let it pass; an agent that works answers in milliseconds.
TEST_P(HarnessOnDefect, IsNamedAndNothingElse) {
  const Expectation& expected = GetParam();
  Report report = tested({DEFECTIVE_AGENT, "{address}", expected.flag}, std::chrono::milliseconds(2'500));
  EXPECT_EQ(defects(report), std::set<std::string>({std::string(expected.check) + "/" + expected.defect}))
      << to_json(report);
  EXPECT_TRUE(report.failed());
}

INSTANTIATE_TEST_SUITE_P(
    Each, HarnessOnDefect,
    testing::Values(Expectation{"no_running_status", "start", "first_is_not_running"},
                    Expectation{"sequence_starts_at_zero", "sequence", "sequence_start"},
                    Expectation{"sequence_repeats", "sequence", "sequence_repeats"},
                    Expectation{"sequence_gap", "sequence", "sequence_gap"},
                    Expectation{"no_trace_id", "trace", "trace_id_missing"},
                    Expectation{"short_trace_id", "trace", "trace_id_malformed"},
                    Expectation{"trace_id_changes", "trace", "trace_id_changes"},
                    Expectation{"no_span_id", "trace", "span_id_missing"},
                    Expectation{"upper_case_span_id", "trace", "span_id_malformed"},
                    Expectation{"no_timestamp", "timestamps", "timestamp_missing"},
                    Expectation{"timestamp_in_seconds", "timestamps", "timestamp_wrong"},
                    Expectation{"floods", "batching", "output_floods"},
                    Expectation{"result_without_call", "tool_calls", "result_without_call"},
                    Expectation{"call_without_result", "tool_calls", "call_without_result"},
                    Expectation{"call_id_repeats", "tool_calls", "call_id_repeats"},
                    Expectation{"input_is_not_json", "tool_calls", "tool_input_malformed"},
                    Expectation{"finding_is_not_json", "findings", "finding_malformed"},
                    Expectation{"finding_without_severity", "findings", "finding_incomplete"},
                    Expectation{"error_ends_stream", "errors", "nonfatal_error_ends_stream"},
                    Expectation{"error_fails_run", "errors", "nonfatal_error_ends_stream"},
                    Expectation{"fatal_error_goes_on", "errors", "fatal_error_without_failed"},
                    Expectation{"no_ack", "steering", "no_ack"},
                    Expectation{"forgets_second_ack", "steering", "no_ack"},
                    Expectation{"ack_of_wrong_id", "steering", "ack_of_unknown_message"},
                    Expectation{"acks_twice", "steering", "ack_repeats"},
                    Expectation{"never_interrupted", "interrupt", "no_interrupted_status"},
                    Expectation{"works_while_interrupted", "interrupt", "works_while_interrupted"},
                    Expectation{"ends_when_interrupted", "interrupt", "ends_when_interrupted"},
                    Expectation{"does_not_resume", "resume", "does_not_resume"},
                    Expectation{"resumes_silently", "resume", "resume_without_running"},
                    Expectation{"outlives_its_caller", "close", "outlives_its_caller"},
                    Expectation{"ignores_input", "waiting", "ignores_input"},
                    Expectation{"waits_on_in_autonomous_mode", "mode", "waits_in_autonomous_mode"},
                    Expectation{"waits_in_autonomous_mode", "waiting", "waits_in_autonomous_mode"},
                    Expectation{"mode_ends_stream", "mode", "mode_ends_stream"},
                    Expectation{"crashes_on_mode_switch", "alive", "agent_ended"},
                    Expectation{"accepts_bad_first_message", "bad_first_message", "accepts_bad_first_message"},
                    Expectation{"unknown_for_bad_first_message", "bad_first_message", "bad_first_message_code"},
                    Expectation{"accepts_bad_task", "bad_task", "accepts_bad_task"},
                    Expectation{"no_terminal_status", "completion", "no_terminal_status"},
                    Expectation{"messages_after_completed", "completion", "messages_after_end"},
                    Expectation{"completed_with_error", "completion", "completed_with_error"},
                    Expectation{"never_ends", "completion", "never_ends"},
                    Expectation{"ignores_cancel", "cancel", "works_on_after_cancel"},
                    Expectation{"silent_shutdown", "shutdown", "no_status_at_shutdown"},
                    Expectation{"does_not_end", "shutdown", "does_not_end"}),
    [](const auto& each) { return std::string(each.param.flag); });

}  // namespace
}  // namespace shepherd::harness
