#include "outbound/repo_token.h"

#include <gtest/gtest.h>

#include <thread>

#include "outbound/limits.h"
#include "process/test_agents.h"

namespace shepherd {
namespace {

class RepoTokenCommand : public testing::Test {
 protected:
  void SetUp() override {
    config_.warden_program = MISBEHAVING_AGENT;
    task_.id = fresh_mark();  // its processes have it in their environment
    task_.repo_url = "https://example.com/a.git";
  }
  void TearDown() override { EXPECT_TRUE(carriers_of(task_.id).empty()) << "a process of the command is left"; }

  void command(const std::string& script) {
    config_.command = {"sh", "-c", script};
    provider_ = make_repo_token_provider(config_, clock_);
  }
  // The token, or the error's message.
  std::string given() {
    auto token = provider_->token(task_);
    if (!token) {
      EXPECT_EQ(token.error().reason, "token_provider_failed");
    }
    return token ? token->token : token.error().message;
  }

  SystemClock clock_;
  RepoTokenConfig config_;
  TaskInfo task_;
  std::unique_ptr<RepoTokenProvider> provider_;
};

TEST_F(RepoTokenCommand, GivesWhatItPrints) {
  command("echo secret of $SHEPHERD_REPO_URL; echo more");
  EXPECT_EQ(given(), "secret of https://example.com/a.git");
}

TEST_F(RepoTokenCommand, FailuresAreNamed) {
  command("echo secret; exit 3");
  EXPECT_EQ(given(), "No repository token: the configured command failed with exit code 3.");
  command("kill -9 $$");
  EXPECT_EQ(given(), "No repository token: the configured command ended with SIGKILL.");
  command("head -c " + std::to_string(kMaxTokenBytes + 1) + " /dev/zero");
  EXPECT_EQ(given(), "No repository token: the configured command printed too much.");
  config_.command = {"no-such-program"};
  provider_ = make_repo_token_provider(config_, clock_);
  EXPECT_NE(given().find("no-such-program"), std::string::npos);
}

// It left its group and its session, so a signal to the group would not reach it.
TEST_F(RepoTokenCommand, LeavesNoProcess) {
  command("setsid sleep 777 >&- 2>&- & echo secret");
  EXPECT_EQ(given(), "secret");
}

TEST_F(RepoTokenCommand, CancelEndsAllCalls) {
  command("setsid sleep 777 & echo; exec >&- 2>&-; exec sleep 777");
  std::vector<std::thread> calls;
  std::vector<std::string> answers(2);
  for (std::string& answer : answers) calls.emplace_back([&] { answer = given(); });
  EXPECT_TRUE(eventually([&] { return carriers_of(task_.id).size() >= 4; }));
  provider_->cancel();
  for (std::thread& each : calls) each.join();
  for (const std::string& answer : answers) EXPECT_NE(answer.find("was stopped"), std::string::npos) << answer;
  EXPECT_NE(given().find("was stopped"), std::string::npos) << "a later call";
}

}  // namespace
}  // namespace shepherd
