#include <gtest/gtest.h>

#include <string>

#include "cli/local_runner.h"
#include "cli/run_request.h"
#include "cli/task_board.h"
#include "cli/task_file.h"

namespace shepherd {
namespace {

std::string problem(const std::string& text) {
  Result<TaskFile> file = parse_task_file(text, "tasks.yaml", {}, {});
  return file ? "" : file.error().message;
}

TEST(TaskFile, AListOfTasks) {
  Result<TaskFile> file = parse_task_file("- prompt: one\n- {name: two, command: [make, test]}\n", "f", {}, {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->parallel, 1);
  ASSERT_EQ(file->tasks.size(), 2u);
  EXPECT_EQ(file->tasks[0].name, "task 1");
  EXPECT_EQ(file->tasks[0].agent, "claude");
  EXPECT_EQ(file->tasks[1].command, (std::vector<std::string>{"make", "test"}));
}

TEST(TaskFile, DefaultsAndFlagsAreOverruledByATask) {
  RunRequest flags;
  flags.model = "from-flags";
  Result<TaskFile> file = parse_task_file(
      "parallel: 3\n"
      "defaults: {mode: autonomous, environment: {A: '1', B: '1'}}\n"
      "tasks:\n"
      "  - {name: a, prompt: p, budget: 1.5, timeout: 10m, worktree: true}\n"
      "  - {name: b, prompt: p, mode: interactive, model: own, timeout: 90, environment: {B: '2'}}\n",
      "f", flags, {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->parallel, 3);
  const RunRequest& a = file->tasks[0];
  const RunRequest& b = file->tasks[1];
  EXPECT_EQ(a.mode, "autonomous");
  EXPECT_EQ(a.model, "from-flags");
  EXPECT_EQ(a.budget_usd, 1.5);
  EXPECT_EQ(a.timeout_seconds, 600);
  EXPECT_TRUE(a.worktree);
  EXPECT_EQ(b.mode, "interactive");
  EXPECT_EQ(b.model, "own");
  EXPECT_EQ(b.timeout_seconds, 90);
  EXPECT_FALSE(b.worktree);
  EXPECT_EQ(b.environment.at("A"), "1");
  EXPECT_EQ(b.environment.at("B"), "2");
}

TEST(TaskFile, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(problem("- promt: x\n"), "tasks.yaml:1: a task has no \"promt\"; did you mean \"prompt\"?");
  EXPECT_EQ(problem("- {name: x}\n"), "tasks.yaml:1: a task needs a prompt, or a command as a list: [make, test]");
  EXPECT_EQ(problem("- prompt: x\n  name: n\n- prompt: y\n  name: n\n"), "tasks.yaml:3: two tasks are called \"n\"");
  EXPECT_EQ(problem("- prompt: x\n  timeout: soon\n"),
            "tasks.yaml:2: this must be a span of time such as 90s, 10m or 2h");
  EXPECT_EQ(
      problem("- prompt: x\n  agent: nobody\n"),
      "tasks.yaml:2: there is no agent \"nobody\"; known are claude, claude-acp, codex, codex-acp, copilot, gemini, "
      "gemini-stream, goose, kilo, kimi, opencode, opencode-run, qwen, vibe, text, grpc (with --address)");
  EXPECT_NE(problem("tasks: []\n").find("there are no tasks"), std::string::npos);
  EXPECT_NE(problem("parallel: 0\ntasks: [{prompt: x}]\n").find("parallel must be 1 to"), std::string::npos);
  EXPECT_NE(problem("- prompt: [\n"), "");
  EXPECT_NE(problem(""), "");
}

// With observability switched off, the agent works but is not watched step by step.
TEST(AgentSettings, WithoutObservabilityClaudeIsNotWatchedStepByStep) {
  Config config;
  EXPECT_EQ(agent_settings(config, "claude").options.at("output_format"), "stream-json");
  config.observability_enabled = false;
  EXPECT_EQ(agent_settings(config, "claude").options.at("output_format"), "text");
}

TEST(RunRequest, BodyOfTheTask) {
  RunRequest request;
  request.prompt = "do it";
  request.model = "m";
  request.budget_usd = 2;
  EXPECT_EQ(creation_body(request, "r"),
            R"({"task":{"description":"do it"},"agent":"claude","runner":"r","model":"m","budget":2E0})");
  RunRequest command;
  command.command = {"echo", "it's", ""};
  EXPECT_EQ(command.command_line(), R"(echo 'it'\''s' '')");
  EXPECT_EQ(
      creation_body(command, "r"),
      R"({"task":{"description":"echo 'it'\\''s' ''"},"agent":"text","runner":"r","command":["echo","it's",""]})");
}

class BoardTest : public ::testing::Test {
 protected:
  static DriverEvent event(EventType type, std::string json) { return {type, std::move(json), ""}; }

  std::string out_, err_;
  Context context_{[](const char*) { return std::string(); }, Output(out_), Output(err_), {}};
  ManualClock clock_;
};

TEST_F(BoardTest, TellsChangesOfStateAsLines) {
  TaskBoard board(context_, TaskBoard::Form::lines, clock_, {"docs", "tests"});
  board.started(0, "task-1");
  board.event(0, event(EventType::tool_call, R"({"type":"tool_call","summary":"Reading \u001b[31mx"})"));
  board.event(0, event(EventType::usage, R"({"type":"usage","data":{"costUSD":0.25}})"));
  board.event(0, event(EventType::status, R"({"summary":"Needs approval","data":{"state":"waiting_for_input"}})"));
  board.draw();
  EXPECT_EQ(out_,
            "docs  starting  task-1\n"
            "docs  running  task-1: Reading \\x1b[31mx\n"  // a request, to the last character
            "docs  waiting_for_input  task-1: Needs approval\n");
  out_.clear();
  board.ended(0, State::completed, "done", std::nullopt);
  board.event(0, event(EventType::output, R"({"summary":"too late"})"));
  board.finish();
  EXPECT_NE(out_.find("docs  completed  task-1: done\n"), std::string::npos);
  EXPECT_NE(out_.find("$0.25"), std::string::npos);
  EXPECT_EQ(out_.find("too late"), std::string::npos);
}

TEST_F(BoardTest, TellsThemAsJson) {
  TaskBoard board(context_, TaskBoard::Form::json, clock_, {"docs"});
  board.started(0, "task-1");
  clock_.advance_ms(1'500);
  board.ended(0, State::failed, "no", 0.5);
  board.finish();
  EXPECT_NE(
      out_.find(R"({"name":"docs","taskID":"task-1","state":"failed","message":"no","costUSD":5E-1,"elapsedMS":1500})"),
      std::string::npos)
      << out_;
}

TEST(BoardLine, FitsTheTerminal) {
  BoardRow row{"docs", "task-1", State::running, "Reading a very long path indeed", 1'000, 0, 1.5};
  EXPECT_EQ(board_line(row, 63'000, 6, 200),
            "docs    running                1:02     $1.50  Reading a very long path indeed");
  EXPECT_EQ(board_line(row, 63'000, 6, 60).substr(0, 8), "docs    ");
}

}  // namespace
}  // namespace shepherd
