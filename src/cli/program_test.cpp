#include "cli/program.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/completion.h"

namespace shepherd {
namespace {

struct Ran {
  int code = 0;
  std::string out, err;
};

// Runs the whole program like main(), with a made-up environment, and collects its output.
Ran run(std::vector<std::string> words, std::map<std::string, std::string> variables = {}) {
  Ran ran;
  variables.try_emplace("HOME", testing::TempDir() + "nobody");
  Environment environment = [variables](const char* name) {
    auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  Context context{environment, Output(ran.out), Output(ran.err), {}};
  std::vector<const char*> arguments{"shepherd"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  ran.code = run_program(static_cast<int>(arguments.size()), arguments.data(), context);
  return ran;
}

void for_each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
  visit(app);
  for (const CLI::App* sub : app.get_subcommands(nullptr)) for_each_command(*sub, visit);
}

TEST(Program, HelpNamesCommandsAndExitCodes) {
  Ran ran = run({"--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("watch"), std::string::npos);
  EXPECT_NE(ran.out.find("Exit codes"), std::string::npos);
}

TEST(Program, HelpOfACommandIsThatCommands) {
  Ran ran = run({"tasks", "create", "--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("PROMPT"), std::string::npos) << ran.out;
}

TEST(Program, EveryCommandHasAnExample) {
  std::string sink;
  Context context{[](const char*) { return std::string(); }, Output(sink), Output(sink), {}};
  CLI::App app;
  build_command_line(app, context);
  for_each_command(app, [&](const CLI::App& command) {
    if (command.get_name() == "shepherd") return;
    EXPECT_NE(command.get_footer().find("Example"), std::string::npos) << command.get_name();
    EXPECT_FALSE(command.get_description().empty()) << command.get_name();
  });
}

TEST(Program, UsageErrorsAreOneLineAndExitWith2) {
  Ran ran = run({"taks"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "shepherd: there is no command \"taks\"; did you mean \"tasks\"?\n");
  ran = run({"tasks", "show"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find("see \"shepherd tasks show --help\""), std::string::npos) << ran.err;
  EXPECT_EQ(run({"tasks", "--state", "happy"}).code, 2);
  EXPECT_EQ(run({}).code, 2);
}

TEST(Program, NoServerExitsWith3AndSaysHowToStartOne) {
  Ran ran = run({"tasks"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("shepherd serve"), std::string::npos) << ran.err;
  ran = run({"tasks"}, {{"SHEPHERD_URL", "http://127.0.0.1:1"}});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(run({"tasks"}, {{"SHEPHERD_URL", "nonsense"}}).code, 2);
}

TEST(Program, VersionIsTheProjects) {
  EXPECT_EQ(run({"--version"}).out.substr(0, 9), "shepherd ");
}

TEST(Program, ConfigShowsWhereAValueCameFrom) {
  Ran ran = run({"config", "--set", "retention.days=3"}, {{"SHEPHERD_LOG_LEVEL", "warn"}});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("SHEPHERD_LOG_LEVEL"), std::string::npos);
  EXPECT_NE(ran.out.find("days: 3"), std::string::npos);
  EXPECT_EQ(run({"config", "--set", "retention.dys=3"}).code, 2);
}

TEST(ExitCodes, FollowTheErrorsCode) {
  auto code = [](ErrorCode error) { return static_cast<int>(exit_code_of({error, "", "", {}})); };
  EXPECT_EQ(code(ErrorCode::invalid_argument), 2);
  EXPECT_EQ(code(ErrorCode::unavailable), 3);
  EXPECT_EQ(code(ErrorCode::unauthenticated), 4);
  EXPECT_EQ(code(ErrorCode::permission_denied), 4);
  EXPECT_EQ(code(ErrorCode::not_found), 5);
  EXPECT_EQ(code(ErrorCode::conflict), 6);
  EXPECT_EQ(code(ErrorCode::internal), 1);
}

TEST(Completion, EveryShellKnowsEveryCommandAndFlag) {
  std::string sink;
  Context context{[](const char*) { return std::string(); }, Output(sink), Output(sink), {}};
  CLI::App app;
  build_command_line(app, context);
  std::set<std::string> words;
  std::set<std::string> flags;
  for_each_command(app, [&](const CLI::App& command) {
    if (command.get_name() != "shepherd") words.insert(command.get_name());
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) flags.insert(name);
    }
  });
  ASSERT_GE(words.size(), 18u);
  for (const std::string& script : {bash_completion(app), zsh_completion(app), fish_completion(app)}) {
    for (const std::string& word : words) EXPECT_NE(script.find(word), std::string::npos) << word;
    for (const std::string& flag : flags) EXPECT_NE(script.find(flag), std::string::npos) << flag;
    EXPECT_NE(script.find("viewer operator producer admin"), std::string::npos);
  }
}

}  // namespace
}  // namespace shepherd
