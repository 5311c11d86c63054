// Runs the harness against real agents: the example, which has no defects, and agents with one defect each, which the
// harness must report without any other.
#include "harness/harness.h"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "harness/agent_command.h"

namespace shepherd::harness {
namespace {

struct Expectation {
  const char* flag;    // selects the defect
  const char* check;   // the check that fails
  const char* defect;  // the defect's name
};

constexpr std::chrono::milliseconds kShort{2'500};

// Sanitizers need extra memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// A directory for sockets and marker files, deleted at the end.
class TestDirectory {
 public:
  TestDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "harness-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  std::string path(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Report tested(std::vector<std::string> command, std::chrono::milliseconds answer = std::chrono::milliseconds(10'000),
              const std::string& address = {}, GrpcDialect dialect = GrpcDialect::json) {
  HarnessOptions options;
  options.target.dialect = dialect;
  options.warden_program = MISBEHAVING_AGENT;
  options.target.address = address;
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
  options.warden_program = MISBEHAVING_AGENT;
  options.command = {"sh", "-c", "echo no such model >&2; exit 4"};
  auto report = test_agent(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("exit code 4"), std::string::npos) << report.error().message;
  EXPECT_NE(report.error().message.find("no such model"), std::string::npos) << report.error().message;
}

TEST(Harness, SaysThatThereIsNoSuchCommand) {
  HarnessOptions options;
  options.warden_program = MISBEHAVING_AGENT;
  options.command = {"no-such-agent", "{address}"};
  auto report = test_agent(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("no-such-agent"), std::string::npos) << report.error().message;
}

// It left its process group, so a signal to the group would not reach it.
TEST(Harness, LeavesNoProcessOfACommand) {
  TestDirectory directory;
  std::string mark = directory.path("mark");
  HarnessOptions options;
  options.warden_program = MISBEHAVING_AGENT;
  options.command = {"sh", "-c", "setsid sleep 777 >&- 2>&- & echo $! > " + mark + "; exit 4"};
  ASSERT_FALSE(test_agent(options).has_value());
  std::ifstream file(mark);
  pid_t left = 0;
  ASSERT_TRUE(file >> left);
  EXPECT_TRUE(::kill(left, 0) != 0 && errno == ESRCH) << "process " << left << " is left";
}

TEST(Harness, SaysThatNothingAnswers) {
  HarnessOptions options;
  options.warden_program = MISBEHAVING_AGENT;
  options.target.address = *free_loopback_address();
  options.answer = std::chrono::milliseconds(300);
  auto report = test_agent(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().reason, "agent_unreachable");
}

TEST(Harness, SaysWhatACrashingAgentDidAndGoesOn) {
  Report report = tested({DEFECTIVE_AGENT, "{address}", "crashes_on_start"}, kShort);
  EXPECT_EQ(defects(report), std::set<std::string>({"alive/agent_ended", "start/no_answer_to_start"}));
  EXPECT_NE(to_json(report).find("signal 6"), std::string::npos) << to_json(report);
  for (const char* check : {"bad_first_message", "bad_task", "health"}) EXPECT_FALSE(warnings(report).contains(check));
}

TEST(Harness, SaysThatAnAgentDoesNotStartAgain) {
  TestDirectory directory;
  std::string once = "test -e " + directory.path("ran") + " && { echo still locked >&2; exit 4; }; touch " +
                     directory.path("ran") + "; exec " DEFECTIVE_AGENT " {address}";
  Report report = tested({"sh", "-c", once}, kShort);
  EXPECT_EQ(defects(report), std::set<std::string>({"alive/does_not_start_again"}));
  EXPECT_NE(to_json(report).find("still locked"), std::string::npos) << to_json(report);
}

// The agent sends messages of 64 KiB and writes to standard output as fast as it can; the harness must not keep all of
// that.
TEST(Harness, AFloodIsReadAndForgotten) {
  HarnessOptions options;
  options.warden_program = MISBEHAVING_AGENT;
  options.command = {"sh", "-c", "yes & exec " DEFECTIVE_AGENT " {address} floods_without_end"};
  options.run = kShort;
  auto report = test_agent(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(defects(*report), std::set<std::string>({"completion/never_ends"})) << to_json(*report);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  EXPECT_LT(used.ru_maxrss, kSanitized ? LONG_MAX : 90 * 1024) << "KiB";
}

TEST(Harness, SomethingThatListensButSaysNothingIsNoAgent) {
  int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(silent, 8), 0);
  ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
  HarnessOptions options;
  options.warden_program = MISBEHAVING_AGENT;
  options.target.address = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  options.answer = std::chrono::milliseconds(300);
  auto report = test_agent(options);
  ::close(silent);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().reason, "agent_unreachable");
}

TEST(HarnessReport, ForeignTextIsReadableInEveryForm) {
  EXPECT_EQ(readable("é €\n🙂\t."), "é €\n🙂 .");
  EXPECT_EQ(readable("\xFF\x1B[31m\xC3"), "??[31m?");
  EXPECT_EQ(readable("\xED\xA0\x80 \xEF\xBF\xBE \xC2\x9B"), "??? ??? ??") << "surrogate, no character, a control";
  Report report;
  report.fail("alive", "agent_ended", "it printed <&\"\xFF\x01");
  report.fail("alive", "does_not_start_again", "more");
  std::string junit = to_junit(report);
  EXPECT_NE(junit.find("<failure type=\"agent_ended\" message=\"agent_ended: it printed &lt;&amp;&quot;??\">"),
            std::string::npos)
      << junit;
  EXPECT_EQ(junit.find("<failure"), junit.rfind("<failure")) << "one element, both defects in it";
  EXPECT_NE(junit.find("does_not_start_again: more"), std::string::npos);
}

constexpr Expectation kDefects[] = {{"no_running_status", "start", "first_is_not_running"},
                                    {"sequence_starts_at_zero", "sequence", "sequence_start"},
                                    {"sequence_repeats", "sequence", "sequence_repeats"},
                                    {"sequence_gap", "sequence", "sequence_gap"},
                                    {"no_trace_id", "trace", "trace_id_missing"},
                                    {"short_trace_id", "trace", "trace_id_malformed"},
                                    {"trace_id_changes", "trace", "trace_id_changes"},
                                    {"no_span_id", "trace", "span_id_missing"},
                                    {"upper_case_span_id", "trace", "span_id_malformed"},
                                    {"no_timestamp", "timestamps", "timestamp_missing"},
                                    {"timestamp_in_seconds", "timestamps", "timestamp_wrong"},
                                    {"floods", "batching", "output_floods"},
                                    {"result_without_call", "tool_calls", "result_without_call"},
                                    {"call_without_result", "tool_calls", "call_without_result"},
                                    {"call_id_repeats", "tool_calls", "call_id_repeats"},
                                    {"input_is_not_json", "tool_calls", "tool_input_malformed"},
                                    {"finding_is_not_json", "findings", "finding_malformed"},
                                    {"finding_without_severity", "findings", "finding_incomplete"},
                                    {"error_ends_stream", "errors", "nonfatal_error_ends_stream"},
                                    {"error_fails_run", "errors", "nonfatal_error_ends_stream"},
                                    {"fatal_error_goes_on", "errors", "fatal_error_without_failed"},
                                    {"no_ack", "steering", "no_ack"},
                                    {"forgets_second_ack", "steering", "no_ack"},
                                    {"ack_of_wrong_id", "steering", "ack_of_unknown_message"},
                                    {"acks_twice", "steering", "ack_repeats"},
                                    {"never_interrupted", "interrupt", "no_interrupted_status"},
                                    {"works_while_interrupted", "interrupt", "works_while_interrupted"},
                                    {"does_not_resume", "resume", "does_not_resume"},
                                    {"resumes_silently", "resume", "resume_without_running"},
                                    {"outlives_its_caller", "close", "outlives_its_caller"},
                                    {"ignores_input", "waiting", "ignores_input"},
                                    {"waits_on_in_autonomous_mode", "mode", "waits_in_autonomous_mode"},
                                    {"waits_in_autonomous_mode", "waiting", "waits_in_autonomous_mode"},
                                    {"mode_ends_stream", "mode", "mode_ends_stream"},
                                    {"crashes_on_mode_switch", "alive", "agent_ended"},
                                    {"accepts_bad_first_message", "bad_first_message", "accepts_bad_first_message"},
                                    {"accepts_bad_task", "bad_task", "accepts_bad_task"},
                                    {"no_terminal_status", "completion", "no_terminal_status"},
                                    {"messages_after_completed", "completion", "messages_after_end"},
                                    {"completed_with_error", "completion", "completed_with_error"},
                                    {"never_ends", "completion", "never_ends"},
                                    {"ignores_cancel", "cancel", "works_on_after_cancel"},
                                    {"silent_shutdown", "shutdown", "no_status_at_shutdown"},
                                    {"does_not_end", "shutdown", "does_not_end"},
                                    {"never_answers", "start", "no_answer_to_start"},
                                    {"call_without_id", "tool_calls", "tool_call_incomplete"},
                                    {"result_twice", "tool_calls", "result_repeats"},
                                    {"output_is_not_json", "tool_calls", "tool_output_malformed"},
                                    {"message_without_payload", "payload", "payload_missing"},
                                    {"error_without_code", "errors", "error_without_code"},
                                    {"stays_open", "completion", "never_ends"},
                                    {"fails", "completion", "run_failed"}};

TEST(Harness, TypedAgentsAreTestedInTheirDialect) {
  for (std::vector<std::string> command : {std::vector<std::string>{DEFECTIVE_AGENT, "{address}", "--typed"},
                                           std::vector<std::string>{NOTES_AGENT, "{address}"}}) {
    Report report = tested(command, std::chrono::milliseconds(10'000), {}, GrpcDialect::typed);
    EXPECT_EQ(defects(report), std::set<std::string>()) << command[0];
    // The defective agent makes no trace of its own, and continues none.
    std::set<std::string> expected;
    if (command[0] == DEFECTIVE_AGENT) expected.insert("trace_continued");
    EXPECT_EQ(warnings(report), expected) << command[0] << to_json(report);
  }
}

TEST(Harness, AnAgentOfTheOtherDialectIsToldApart) {
  for (GrpcDialect asked : {GrpcDialect::json, GrpcDialect::typed}) {
    std::vector<std::string> command{DEFECTIVE_AGENT, "{address}"};
    if (asked == GrpcDialect::json) command.emplace_back("--typed");
    Report report = tested(command, kShort, {}, asked);
    EXPECT_TRUE(defects(report).contains("start/no_answer_to_start"));
    EXPECT_NE(to_json(report).find("--dialect"), std::string::npos) << to_json(report);
  }
}

// The protocol leaves these to the agent, and its own examples do them.
TEST(Harness, WhatIsAllowedIsNoDefect) {
  TestDirectory directory;
  constexpr std::pair<const char*, const char*> kAllowed[] = {{"ends_when_interrupted", "interrupt"},
                                                              {"finishes_its_step_when_interrupted", "interrupt"},
                                                              {"unknown_for_bad_first_message", "bad_first_message"},
                                                              {"unknown_for_bad_task", "bad_task"},
                                                              {"waits_for_half_close", ""}};
  for (const auto& [flag, check] : kAllowed) {
    Report report = tested({DEFECTIVE_AGENT, "{address}", flag}, kShort, "unix:" + directory.path(flag));
    EXPECT_EQ(defects(report), std::set<std::string>()) << flag << ": " << to_json(report);
    if (*check != '\0') {
      EXPECT_TRUE(warnings(report).contains(check)) << flag << ": " << to_json(report);
    }
  }
}

// Runs several agents at a time, because they mostly wait for time limits, not for the processor. A working agent
// answers in milliseconds, so the limit is short.
TEST(Harness, EachDefectIsNamedAndNothingElse) {
  TestDirectory directory;
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next++; i < std::size(kDefects); i = next++) {
      const Expectation& expected = kDefects[i];
      Report report = tested({DEFECTIVE_AGENT, "{address}", expected.flag}, kShort,
                             // A unix socket, because another process could take a free port before the agent does.
                             "unix:" + directory.path(std::to_string(i)));
      EXPECT_EQ(defects(report), std::set<std::string>({std::string(expected.check) + "/" + expected.defect}))
          << expected.flag << ": " << to_json(report);
      EXPECT_TRUE(report.failed()) << expected.flag;
    }
  };
  std::vector<std::jthread> workers;
  for (int i = 0; i < 16; ++i) workers.emplace_back(work);
}

// Text that is no JSON is no defect that a typed agent can have, and a message of the other dialect is one.
TEST(Harness, EachDefectOfATypedAgentIsNamedAndNothingElse) {
  constexpr Expectation kTyped[] = {{"answers_in_the_other_dialect", "payload", "unreadable_message"},
                                    {"sequence_gap", "sequence", "sequence_gap"},
                                    {"finding_without_severity", "findings", "finding_incomplete"},
                                    {"error_without_code", "errors", "error_without_code"},
                                    {"result_without_call", "tool_calls", "result_without_call"},
                                    {"no_ack", "steering", "no_ack"},
                                    {"does_not_resume", "resume", "does_not_resume"},
                                    {"no_terminal_status", "completion", "no_terminal_status"}};
  TestDirectory directory;
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next++; i < std::size(kTyped); i = next++) {
      const Expectation& expected = kTyped[i];
      Report report = tested({DEFECTIVE_AGENT, "{address}", "--typed", expected.flag}, kShort,
                             "unix:" + directory.path(std::to_string(i)), GrpcDialect::typed);
      EXPECT_EQ(defects(report), std::set<std::string>({std::string(expected.check) + "/" + expected.defect}))
          << expected.flag << ": " << to_json(report);
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::size(kTyped); ++i) workers.emplace_back(work);
}

}  // namespace
}  // namespace shepherd::harness
