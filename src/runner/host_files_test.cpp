// Tests of the files that an agent asks for: what it gets, and that no path leads out of the task's directory.
#include "runner/host_files.h"

#include <sys/stat.h>

#include "runner/host_for_test.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

namespace fs = std::filesystem;

class HostFilesTest : public ::testing::Test {
 protected:
  HostWorld world;
};

TEST_F(HostFilesTest, WritesAndReads) {
  EXPECT_EQ(world.reason(WriteFile{"new/deep/a.txt", "one\ntwo\n"}), "");
  EXPECT_EQ(world.text("new/deep/a.txt"), "one\ntwo\n");
  EXPECT_EQ(world.read("new/deep/a.txt"), "one\ntwo\n");
  EXPECT_EQ(world.read(world.at("new/deep/a.txt")), "one\ntwo\n") << "absolute, and below";
  EXPECT_EQ(world.reason(WriteFile{world.at("b.txt"), ""}), "");
  EXPECT_EQ(world.read("b.txt"), "");
  EXPECT_EQ(world.read("missing"), "no_file");
  EXPECT_EQ(world.read("inside"), "wrong_kind");
}

TEST_F(HostFilesTest, ReadsSomeLines) {
  world.put("a.txt", "1\n2\n3\n4");
  auto lines = [&](std::optional<std::size_t> line, std::optional<std::size_t> limit) {
    return std::get<FileText>(*world.result(ReadFile{"a.txt", line, limit}).result).text;
  };
  EXPECT_EQ(lines(2, 2), "2\n3\n");
  EXPECT_EQ(lines(3, {}), "3\n4");
  EXPECT_EQ(lines({}, 1), "1\n");
  EXPECT_EQ(lines(0, 1), "1\n");
  EXPECT_EQ(lines(4, 9), "4");
  EXPECT_EQ(lines(5, 9), "");
  EXPECT_EQ(lines(1, 0), "");
}

TEST_F(HostFilesTest, NoPathLeadsOut) {
  fs::create_directories(world.directory / "work-of-another");
  std::ofstream(world.directory / "work-of-another/file") << "another's";
  fs::create_symlink(world.directory / "hidden", world.at("link"));
  fs::create_symlink(world.directory / "hidden/token", world.at("token"));
  fs::create_symlink("../hidden/token", world.at("relative"));
  fs::create_symlink("/proc/self/environ", world.at("magic"));
  const std::string outside = (world.directory / "hidden/token").string();
  for (const std::string& path :
       {outside, std::string("../hidden/token"), std::string("inside/../../hidden/token"), world.at("../hidden/token"),
        std::string("link/token"), std::string("token"), std::string("relative"), std::string("magic"),
        world.work() + "-of-another/file", std::string("/"), std::string("/etc/passwd")}) {
    EXPECT_EQ(world.read(path), "outside_root") << path;
    EXPECT_NE(world.reason(WriteFile{path, "changed"}), "") << path;
  }
  EXPECT_EQ(world.reason(WriteFile{"link/new", "x"}), "outside_root");
  EXPECT_EQ(world.reason(WriteFile{std::string("a\0b", 3), "x"}), "bad_path");
  std::ifstream token(outside);
  std::string now;
  std::getline(token, now);
  EXPECT_EQ(now, "the-admins-token");
  EXPECT_FALSE(fs::exists(world.directory / "hidden/new"));
  HostAnswer answer = world.result(ReadFile{"/etc/passwd", {}, {}});
  EXPECT_EQ(answer.result.error().message, "\"/etc/passwd\" is not below the task's directory \"" + world.work() +
                                               "\", which is all that can be asked for.");
}

// The agent sees its directory under the name that it was given.
TEST_F(HostFilesTest, TheDirectoryCanBeNamedByALink) {
  fs::create_symlink(world.work(), world.directory / "name");
  world.put("a.txt", "text");
  auto files = HostFiles::open(world.directory / "name", {});
  ASSERT_TRUE(files);
  EXPECT_EQ(files->read({(world.directory / "name/a.txt").string(), {}, {}}), "text");
  EXPECT_EQ(files->read({world.at("a.txt"), {}, {}}), "text");
}

// What the agent renames must not make the runner, which may read more, read it.
TEST_F(HostFilesTest, StaysInTheDirectoryAndKeepsOutOfWhatIsHidden) {
  fs::create_directories(world.directory / "work/around/own");
  std::ofstream(world.at("around/own/token")) << "another token";
  std::ofstream(world.at("plain")) << "plain";
  world.hidden = {(world.directory / "hidden").string(), world.at("around/own"), world.at("later")};
  EXPECT_EQ(world.read("plain"), "plain");
  EXPECT_EQ(world.read("around/own/token"), "no_access");
  fs::rename(world.at("around"), world.at("moved"));
  EXPECT_EQ(world.read("moved/own/token"), "no_access") << "inside, and renamed";
  EXPECT_EQ(world.reason(WriteFile{"moved/own/new", "x"}), "no_access");
  fs::rename(world.directory / "hidden", world.at("fetched"));
  EXPECT_EQ(world.read("fetched/token"), "no_access") << "brought inside";
  fs::rename(world.at("fetched"), world.directory / "hidden");
  fs::rename(world.work(), world.directory / "gone");
  fs::create_symlink("hidden", world.work());
  EXPECT_EQ(world.read("token"), "no_file") << "its name leads elsewhere now";
  EXPECT_EQ(world.read("plain"), "plain");
  fs::remove(world.work());
  fs::rename(world.directory / "gone", world.work());
}

// A tree under Shepherd's own directory, which is hidden.
TEST_F(HostFilesTest, TheDirectoryMayBeInsideAHiddenOne) {
  world.put("a.txt", "text");
  world.hidden = {world.directory.string()};
  EXPECT_EQ(world.read("a.txt"), "text");
  EXPECT_FALSE(HostFiles::open(world.work(), {world.work()}));
}

TEST_F(HostFilesTest, HugeFilesAreReadInParts) {
  const std::string line = std::string(1023, 'x') + "\n";
  std::string text;
  while (text.size() < kMaxHostFileBytes) text += line;
  world.put("most", text);
  EXPECT_EQ(world.read("most").size(), kMaxHostFileBytes);
  world.put("more", text + "y");
  EXPECT_EQ(world.read("more"), "file_too_large");
  std::size_t lines = kMaxHostFileBytes / line.size();
  EXPECT_EQ(std::get<FileText>(*world.result(ReadFile{"more", lines, 9}).result).text, line + "y");
  world.put("zeros", "");
  fs::resize_file(world.at("zeros"), kMaxHostSkippedBytes + kMiB);
  EXPECT_EQ(world.read("zeros"), "file_too_large");
  EXPECT_EQ(world.reason(ReadFile{"zeros", 2, 1}), "file_too_large");
}

TEST_F(HostFilesTest, WhatIsNoTextIsRefused) {
  world.put("latin", "gr\xFC\xDF");
  fs::copy_file(MISBEHAVING_AGENT, world.at("program"));
  ASSERT_EQ(::mkfifo(world.at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(world.read("latin"), "not_text");
  EXPECT_EQ(world.reason(ReadFile{"program", 1, 1}), "not_text");
  EXPECT_EQ(world.read("pipe"), "wrong_kind") << "and it does not wait for a writer";
}

}  // namespace
}  // namespace shepherd
