#include "runner/agent_version.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "process/test_agents.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;

class AgentVersionTest : public ::testing::Test {
 protected:
  AgentVersionTest() : root_(files::temp_directory_path() / fresh_mark()) {
    files::create_directories(root_);
    question_.command = {"agent", "--version"};
    question_.environment = {"PATH=/nowhere:" + root_.string() + ":/usr/bin:/bin", "SHEPHERD_TEST_MARK=" + mark_};
    question_.directory = "/";
    question_.with_stdin = false;
    question_.warden_program = MISBEHAVING_AGENT;
  }
  ~AgentVersionTest() override {
    EXPECT_TRUE(carriers_of(mark_).empty()) << "somebody who was asked is left";
    files::remove_all(root_);
  }

  // Each run of the program adds a line to a file.
  void install(const std::string& script) {
    files::path fresh = root_ / "fresh";
    std::ofstream(fresh) << "#!/bin/sh\necho asked >> " << (root_ / "asked").string() << "\n" << script << "\n";
    files::permissions(fresh, files::perms::owner_all);
    files::rename(fresh, root_ / "agent");
  }
  int times_asked() const {
    std::ifstream file(root_ / "asked");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }
  std::string ask(ProgramStop* stop = nullptr) { return versions_.ask(question_, clock_, stop); }

  std::string mark_ = fresh_mark();
  files::path root_;
  AgentSpec question_;
  SystemClock clock_;
  AgentVersions versions_;
};

TEST_F(AgentVersionTest, AProgramIsAskedOnce) {
  install("test \"$1\" = --version && echo '2.1.211 (Claude Code)'; echo more");
  EXPECT_EQ(ask(), "2.1.211 (Claude Code)");
  EXPECT_EQ(ask(), "2.1.211 (Claude Code)");
  question_.command = {root_ / "agent", "--version"};
  EXPECT_EQ(ask(), "2.1.211 (Claude Code)") << "the same file by its path";
  EXPECT_EQ(times_asked(), 1);
}

TEST_F(AgentVersionTest, AnotherFileIsAskedAgain) {
  install("echo 1.0.0");
  EXPECT_EQ(ask(), "1.0.0");
  install("echo 1.0.1");
  EXPECT_EQ(ask(), "1.0.1");
}

TEST_F(AgentVersionTest, ManyAtOnceAskOnce) {
  install("sleep 0.2; echo 3.0.0");
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { right += ask() == "3.0.0" ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(times_asked(), 1);
}

TEST_F(AgentVersionTest, WhatCannotBeReadIsNoVersion) {
  EXPECT_EQ(ask(), "") << "there is no such program";
  install("echo 9.9.9; exit 1");
  EXPECT_EQ(ask(), "");
  install("echo unknown");
  EXPECT_EQ(ask(), "");
  EXPECT_EQ(version_line("1.0\x1b[0m\n"), "");
  EXPECT_EQ(version_line(""), "");
}

TEST_F(AgentVersionTest, AStopDoesNotWaitForTheAnswer) {
  install("echo here > " + (root_ / "here").string() + "; sleep 600");
  ProgramStop stop;
  auto began = std::chrono::steady_clock::now();
  std::thread thread([&] { EXPECT_EQ(ask(&stop), ""); });
  EXPECT_TRUE(eventually([&] { return files::exists(root_ / "here"); }));
  stop.stop();
  thread.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, kVersionTimeout) << "ended by the stop, not by the time";
  install("echo 1.2.3");
  EXPECT_EQ(ask(), "1.2.3");
}

}  // namespace
}  // namespace shepherd
