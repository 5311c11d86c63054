// Tests of programs beside a confined agent: they see what it sees, whatever it renamed.
#include "process/shared_confinement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "process/test_agents.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;

class SharedConfinementTest : public testing::TestWithParam<ConfineLevel> {
 protected:
  void SetUp() override {
    // Not under /tmp, which is private at level workspace.
    char name[] = "shared-confinement-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = files::canonical(name);
    files::create_directories(root_ / "around/hidden");
    files::create_directories(root_ / "work/inside");
    std::ofstream(root_ / "around/hidden/token") << "the-admins-token";
    spec_.environment = {"PATH=/usr/bin:/bin", "SHEPHERD_TEST_MARK=" + mark_};
    spec_.directory = root_ / "work";
    spec_.warden_program = MISBEHAVING_AGENT;
    spec_.confinement = {GetParam(), true, {root_ / "around/hidden"}, {}, {root_ / "around"}};
  }
  void TearDown() override {
    EXPECT_TRUE(carriers_of(mark_).empty());
    files::remove_all(root_);
  }

  std::unique_ptr<AgentProcess> start(const AgentSpec& spec, const std::string& script, RecordingObserver& listener) {
    AgentSpec whole = spec;
    whole.command = {"/bin/sh", "-c", script};
    auto started = AgentProcess::start(whole, listener, clock_);
    EXPECT_TRUE(started) << started.error().message;
    return started ? *std::move(started) : nullptr;
  }

  std::string mark_ = fresh_mark();
  files::path root_;
  SystemClock clock_;
  AgentSpec spec_;
};

TEST_P(SharedConfinementTest, SeesWhatTheAgentSees) {
  std::string own = "/tmp/" + mark_;
  RecordingObserver listener;
  // The second plan of a confinement with the same paths would hide the decoy.
  auto agent = start(spec_,
                     "echo mine > " + own +
                         "; cd ..; mv around moved && mkdir -p around/hidden && echo decoy > "
                         "around/hidden/token; echo ready; read -r word; rm -f " +
                         own,
                     listener);
  ASSERT_NE(agent, nullptr);
  auto shared = agent->share_confinement();
  ASSERT_TRUE(shared) << shared.error().message;
  ASSERT_TRUE(eventually([&] { return listener.out().find("ready") != std::string::npos; }));
  EXPECT_TRUE(files::exists(root_ / "moved/hidden/token") || files::exists(root_ / "around/hidden/token"));
  AgentSpec beside = spec_;
  beside.with_stdin = false;
  beside.beside = *shared;
  beside.begins_in = root_ / "work/inside";
  RecordingObserver output;
  auto program = start(beside,
                       "pwd; cat " + own + "; cat ../../moved/hidden/token ../../around/hidden/token; echo x > " +
                           (root_ / "outside").string() + " && echo wrote; ls /proc | grep -c '^[0-9]'",
                       output);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->confined(), GetParam());
  ASSERT_TRUE(program->wait(30s));
  EXPECT_TRUE(output.out().starts_with((root_ / "work/inside").string() + "\nmine\n")) << output.out();
  EXPECT_EQ(output.out().find("the-admins-token"), std::string::npos) << output.out();
  // With Landlock no agent creates entries beside what is hidden.
  bool writes = GetParam() == ConfineLevel::secrets && agent->confined_by() == ConfineMeans::namespaces;
  EXPECT_EQ(output.out().find("wrote") != std::string::npos, writes) << output.out();
  agent->close_input();
  ASSERT_TRUE(agent->wait(30s));
}

TEST_P(SharedConfinementTest, AnAgentThatHasEndedHasNoneToShare) {
  RecordingObserver listener;
  auto agent = start(spec_, "exit 0", listener);
  ASSERT_NE(agent, nullptr);
  ASSERT_TRUE(agent->wait(30s));
  auto shared = agent->share_confinement();
  if (agent->confined_by() == ConfineMeans::landlock) {
    EXPECT_TRUE(shared) << "a plan can be used after the agent's end";
    return;
  }
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().reason, "cannot_confine");
}

INSTANTIATE_TEST_SUITE_P(Levels, SharedConfinementTest, testing::Values(ConfineLevel::secrets, ConfineLevel::workspace),
                         [](const auto& level) { return std::string(name(level.param)); });

}  // namespace
}  // namespace shepherd
