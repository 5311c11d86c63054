#include <gtest/gtest.h>

#include "driver/codex/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

std::vector<std::string> codex_argv(const Launch& launch) {
  Codex driver;
  auto plan = driver.launch(launch);
  EXPECT_TRUE(plan.has_value());
  return plan ? plan->program()->argv : std::vector<std::string>{};
}

// What thread/start is asked with, after the server has said hello.
std::string thread_request(const Launch& launch) {
  Codex driver;
  Actions out;
  EXPECT_TRUE(driver.launch(launch).has_value());
  driver.record(lines_of(codex_recording("codex-app-02-approvals").out)[0], kRecordingStart, out);
  return lines_of(out.written()).back();
}

TEST(CodexLaunch, StartsTheAppServerAndSaysHello) {
  Codex driver;
  auto plan = driver.launch(codex_launch());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->program()->argv, (std::vector<std::string>{"codex", "app-server"}));
  EXPECT_EQ(text_member(plan->input, "method"), "initialize");
  EXPECT_EQ(find_member(plan->input, "id"), "1");
  EXPECT_TRUE(plan->keep_input_open);
  EXPECT_EQ(driver.version_command(""), (std::vector<std::string>{"codex", "--version"}));
}

TEST(CodexLaunch, ArgumentsOfTheConfigurationComeBeforeItsOwn) {
  Launch launch = codex_launch();
  launch.program = "codex";
  launch.command = {"codex", "-c", "model_provider=\"local\""};
  EXPECT_EQ(codex_argv(launch), (std::vector<std::string>{"codex", "-c", "model_provider=\"local\"", "app-server"}));
  launch.options[std::string(kCodexFormatOption)] = "exec-json";
  std::vector<std::string> argv = codex_argv(launch);
  argv.resize(4);
  EXPECT_EQ(argv, (std::vector<std::string>{"codex", "-c", "model_provider=\"local\"", "exec"}));
}

TEST(CodexLaunch, AsksForWhatTheTaskHas) {
  Launch launch = codex_launch();
  launch.model = "gpt-5.5";
  launch.rules = "- Never push.";
  launch.mode = AgentMode::autonomous;
  launch.mcp_servers_json =
      R"({"mcpServers":{"web":{"type":"http","url":"http://x/","headers":{"A":"b"}},"notes":{"command":"n","args":["1"]}}})";
  std::string request = thread_request(launch);
  EXPECT_EQ(
      request,
      R"({"id":2,"method":"thread/start","params":{"model":"gpt-5.5","approvalPolicy":"never","sandbox":"workspace-write",)"
      R"("config":{"mcp_servers":{"web":{"url":"http://x/","http_headers":{"A":"b"}},"notes":{"command":"n","args":["1"]}}},)"
      R"("developerInstructions":"# Rules\n\n- Never push."}})");
}

TEST(CodexLaunch, ResumesASession) {
  Launch launch = codex_launch();
  launch.resume_session = "01a1e084-b979-7111-97be-ceea4e5ba252";
  std::string request = thread_request(launch);
  EXPECT_EQ(text_member(request, "method"), "thread/resume");
  EXPECT_EQ(text_member(find_member(request, "params"), "threadId"), launch.resume_session);
  launch.options[std::string(kCodexFormatOption)] = "exec-json";
  EXPECT_EQ(codex_argv(launch), (std::vector<std::string>{"codex", "exec", "--json", "--skip-git-repo-check", "-s",
                                                          "workspace-write", "resume", launch.resume_session, "-"}));
}

TEST(CodexLaunch, TheOneWayFormatHasThePromptAsItsInput) {
  Launch launch = codex_launch(CodexFormat::exec);
  launch.context = "Some context";
  Codex driver;
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->input, "Do it\n\nContext:\n\nSome context");
  EXPECT_FALSE(plan->keep_input_open);
}

TEST(CodexLaunch, SaysWhatCannotBeHad) {
  Launch launch = codex_launch();
  EXPECT_EQ(Codex().launch(launch)->remark, "");
  launch.allowed_tools = {"Bash"};
  EXPECT_EQ(Codex().launch(launch)->remark, "Codex does not take a list of allowed tools; it works without");
}

TEST(CodexLaunch, RefusesWhatWouldReadAsAnOption) {
  for (auto spoil : {+[](Launch& l) { l.model = "-m"; }, +[](Launch& l) { l.resume_session = "--last"; },
                     +[](Launch& l) { l.prompt.clear(); }, +[](Launch& l) { l.mcp_servers_json = "[]"; }}) {
    Launch launch = codex_launch();
    spoil(launch);
    EXPECT_FALSE(Codex().launch(launch).has_value());
  }
}

TEST(CodexLaunch, KeepsItsStateInItsHome) {
  auto paths = [](std::map<std::string, std::string> variables) {
    return Codex().state_paths([&](std::string_view name) { return variables[std::string(name)]; });
  };
  EXPECT_EQ(paths({{"HOME", "/home/dev"}}), (std::vector<std::string>{"/home/dev/.codex"}));
  EXPECT_EQ(paths({{"HOME", "/home/dev"}, {"CODEX_HOME", "/c"}}), (std::vector<std::string>{"/c"}));
  EXPECT_TRUE(paths({}).empty());
}

TEST(CodexItems, ACommandIsShownWithoutItsShell) {
  EXPECT_EQ(inner_command("/bin/bash -lc 'ls -la'"), "ls -la");
  EXPECT_EQ(inner_command(R"(/bin/bash -lc "echo it's")"), "echo it's");
  EXPECT_EQ(inner_command("/bin/bash -lc ls"), "ls");
  // What is not exactly one word stays: a person decides by it.
  for (std::string_view whole :
       {"/bin/bash -lc 'ls' rm", "/bin/bash -lc 'ls", "/bin/bash -lc \"$(rm x)\"", "ls -la", "/bin/bash -lc "}) {
    EXPECT_EQ(inner_command(whole), whole);
  }
}

}  // namespace
}  // namespace shepherd
