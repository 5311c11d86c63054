#include "runner/open_link.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/lack_for_test.h"
#include "process/test_agents.h"

namespace shepherd {
namespace {

class NobodyListens final : public AgentObserver {
  void on_output(AgentStream, std::string_view) override {}
  void on_end(const AgentEnd&) override {}
};

TEST(OpenLink, AServiceNeedsAnAddress) {
  SystemClock clock;
  NobodyListens nobody;
  LinkRequest request;
  request.agent = "notes";
  request.plan.way = GrpcLaunch{"/a.B/C"};
  EXPECT_EQ(open_link(request, nobody, clock).error().reason, "no_address");
}

TEST(OpenLink, AProgramsEnvironmentIsWhole) {
  AgentSettings settings;
  settings.environment = {"A=1"};
  ProgramLaunch program{{"x"}, {{"B", "2"}}};
  EXPECT_EQ(program_environment(settings, program), (std::vector<std::string>{"A=1", "B=2"}));
  settings.confinement.level = ConfineLevel::workspace;
  EXPECT_EQ(program_environment(settings, program).back(), "TMPDIR=/tmp");
}

class ProgramLinkTest : public testing::Test {
 protected:
  ProgramLinkTest() {
    std::filesystem::create_directories(root_ / "work");
    request_.agent = "text";
    request_.settings.directory = root_ / "work";
    request_.settings.environment = {"PATH=/usr/bin:/bin", "SHEPHERD_TEST_MARK=" + mark_};
    request_.settings.warden_program = MISBEHAVING_AGENT;
  }
  ~ProgramLinkTest() override { std::filesystem::remove_all(root_); }

  OpenedLink open() {
    auto opened = open_link(request_, heard_, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : OpenedLink{};
  }
  // What the shell says that runs this script.
  std::string said_by(const std::string& script) {
    request_.plan.way = ProgramLaunch{{"sh", "-c", script}, {}};
    auto opened = open();
    EXPECT_TRUE(eventually([&] { return heard_.ends() == 1; }));
    return heard_.out();
  }

  std::string mark_ = fresh_mark();
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / fresh_mark();
  SystemClock clock_;
  RecordingObserver heard_;
  LinkRequest request_;
};

TEST_F(ProgramLinkTest, AProgramGetsItsDirectoryAndItsEnvironment) {
  EXPECT_EQ(said_by("pwd; echo $SHEPHERD_TEST_MARK"), (root_ / "work").string() + "\n" + mark_ + "\n");
}

TEST_F(ProgramLinkTest, AProgramWithoutInputFindsItsEnd) {
  EXPECT_EQ(said_by("cat; echo over"), "over\n");
}

TEST_F(ProgramLinkTest, AnInputThatIsKeptOpenTakesWhatComes) {
  request_.plan.keep_input_open = true;
  request_.plan.way = ProgramLaunch{{"sh", "-c", "read line; echo got $line"}, {}};
  auto opened = open();
  ASSERT_TRUE(opened.link->write("it\n"));
  EXPECT_TRUE(eventually([&] { return heard_.out() == "got it\n"; })) << heard_.out();
}

TEST_F(ProgramLinkTest, AFirstInputNeedsNoOpenEnd) {
  request_.plan.input = "first\n";
  request_.plan.way = ProgramLaunch{{"sh", "-c", "read line; echo got $line"}, {}};
  auto opened = open();
  ASSERT_TRUE(opened.link->write(request_.plan.input));
  EXPECT_TRUE(eventually([&] { return heard_.out() == "got first\n"; })) << heard_.out();
}

// Level workspace hides /tmp, where this program, what it needs beside it and its state are.
TEST_F(ProgramLinkTest, AConfinedProgramReachesItselfItsNeighboursAndItsState) {
  for (const char* made : {"program/real", "program/links", "secret"})
    std::filesystem::create_directories(root_ / made);
  std::filesystem::path script = root_ / "program/real/agent", state = root_ / "state/of/agent";
  std::ofstream(script) << "#!/bin/sh\ncat ${0%/*}/beside " << (root_ / "program/real/neighbour").string() << "\n"
                        << "cat " << (root_ / "secret/file").string() << " 2>/dev/null && echo seen\n"
                        << "echo kept > " << state.string() << "/note && echo wrote\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  std::ofstream(root_ / "program/links/beside") << "beside\n";
  std::ofstream(root_ / "program/real/neighbour") << "neighbour\n";
  std::ofstream(root_ / "secret/file") << "secret\n";
  std::filesystem::create_symlink(script, root_ / "program/links/agent");
  request_.settings.confinement.level = ConfineLevel::workspace;
  request_.settings.confinement.required = true;
  request_.state_paths = {state};
  request_.plan.way = ProgramLaunch{{root_ / "program/links/agent"}, {}};
  auto opened = open_link(request_, heard_, clock_);
  EXPECT_TRUE(std::filesystem::is_directory(state)) << "the confined program could not create it";
  if (!opened) {
    EXPECT_EQ(opened.error().reason, "cannot_confine") << opened.error().message;
    LEAVE_OUT_WITHOUT("confinement") << opened.error().message;
  }
  EXPECT_EQ(opened->confined, ConfineLevel::workspace);
  EXPECT_EQ(opened->remark, "");
  ASSERT_TRUE(eventually([&] { return heard_.ends() == 1; }));
  EXPECT_EQ(heard_.out(), "beside\nneighbour\nwrote\n");
  std::string note;
  std::ifstream(state / "note") >> note;
  EXPECT_EQ(note, "kept");
}

}  // namespace
}  // namespace shepherd
