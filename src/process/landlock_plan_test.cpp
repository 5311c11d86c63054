// Tests of Landlock's grants: everything except hidden paths, expressed as a list of their neighbours.
#include "process/landlock_plan.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/descriptor.h"
#include "base/lack_for_test.h"
#include "process/confine_landlock.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;
using Kind = ConfineStep::Kind;

class LandlockTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/landlock-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = files::canonical(name);
    for (const char* each :
         {"home/data/workspaces/one/tree", "home/data/workspaces/two/tree", "home/.claude", "work"}) {
      files::create_directories(root_ / each);
    }
    for (const char* each : {"home/data/admin.token", "home/.bashrc", "work/file"}) write(each);
    files::create_symlink(at("home/data"), at("home/link"));
  }
  void TearDown() override { files::remove_all(root_); }

  std::string at(const std::string& path) const { return (root_ / path).string(); }
  void write(const std::string& path) const { std::ofstream(root_ / path) << "text\n"; }
  // Returns the grants inside our directory, in order.
  std::vector<std::string> granted(const std::vector<ConfineStep>& steps, const std::string& directory) const {
    auto grants = plan_landlock(steps, at(directory), false);
    EXPECT_TRUE(grants) << grants.error().message;
    std::vector<std::string> paths;
    for (const LandlockGrant& grant : grants.value_or(std::vector<LandlockGrant>{})) {
      if (grant.path.starts_with(root_.string())) paths.push_back(grant.path);
    }
    std::ranges::sort(paths);
    return paths;
  }
  std::string refusal(const std::vector<ConfineStep>& steps, const std::string& directory) const {
    auto grants = plan_landlock(steps, at(directory), false);
    return grants ? "" : grants.error().reason + ": " + grants.error().message;
  }
  // Whether `fact` holds in a confined process.
  bool confined(const std::vector<ConfineStep>& steps, const std::function<bool()>& fact) const {
    pid_t child = ::fork();
    if (child == 0) {
      if (!confine_by_landlock(steps, at("work"))) ::_exit(2);
      ::_exit(fact() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2) << "it was not confined";
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  files::path root_;
};

bool can_read(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return static_cast<bool>(file);
}

TEST_F(LandlockTest, GrantsWhatLiesBesideTheHidden) {
  EXPECT_EQ(granted({{Kind::hide_directory, at("home/data")}}, "work"),
            (std::vector<std::string>{at("home/.bashrc"), at("home/.claude"), at("work")}));
}

TEST_F(LandlockTest, GrantsWhatIsKeptInsideTheHidden) {
  EXPECT_EQ(granted({{Kind::hide_directory, at("home/data")}, {Kind::keep, at("home/data/workspaces/one/tree")}},
                    "home/data/workspaces/one/tree"),
            (std::vector<std::string>{at("home/.bashrc"), at("home/.claude"), at("home/data/workspaces/one/tree"),
                                      at("work")}));
}

TEST_F(LandlockTest, NamesThatBeginAlikeAreOfDifferentPlaces) {
  files::create_directories(root_ / "home/data-of-others/inner");
  files::create_directories(root_ / "home/dat/inner");
  std::vector<std::string> paths = granted({{Kind::hide_directory, at("home/data")}}, "work");
  for (const char* each : {"home/data-of-others", "home/dat"}) {
    EXPECT_TRUE(std::ranges::find(paths, at(each)) != paths.end()) << each;
  }
}

TEST_F(LandlockTest, GrantsAllElseOnceAndNothingAboveTheHidden) {
  auto grants = plan_landlock({{Kind::hide_directory, at("home/data")}}, at("work"), false);
  ASSERT_TRUE(grants);
  for (const char* path : {"/usr", "/proc", "/dev"}) {
    EXPECT_EQ(std::ranges::count(*grants, LandlockGrant{path, true}), 1) << path;
  }
  for (const LandlockGrant& grant : *grants) {
    EXPECT_FALSE(at("home/data").starts_with(grant.path + "/") || grant.path == "/") << grant.path;
  }
}

TEST_F(LandlockTest, RootGetsNoRawDevicesAndNoKernelSettings) {
  auto grants = plan_landlock({}, at("work"), true);
  ASSERT_TRUE(grants);
  auto has = [&](const LandlockGrant& grant) { return std::ranges::find(*grants, grant) != grants->end(); };
  EXPECT_TRUE(has({"/proc", false}) && has({"/dev/null", true}) && has({"/usr", true}));
  EXPECT_FALSE(has({"/proc", true}) || has({"/dev", true}) || has({"/dev", false}) || has({"/", true}));
}

TEST_F(LandlockTest, CannotHideInThePlaceOfWork) {
  EXPECT_NE(refusal({{Kind::hide_file, at("work/file")}}, "work").find("cannot_confine"), std::string::npos);
}

TEST_F(LandlockTest, CannotHideASocket) {
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  at("home/.claude/bus").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const ConfineStep& step :
       {ConfineStep{Kind::hide_file, at("home/.claude/bus")}, ConfineStep{Kind::hide_directory, at("home/.claude")}}) {
    EXPECT_NE(refusal({step}, "work").find("socket"), std::string::npos);
  }
}

class LandlockedTest : public LandlockTest {
 protected:
  void SetUp() override {
    LandlockTest::SetUp();
    if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 6) {
      LEAVE_OUT_WITHOUT("landlock") << "this kernel's version cannot express the level";
    }
  }
  std::vector<ConfineStep> steps() const {
    return {{Kind::hide_directory, at("home/data")}, {Kind::keep, at("home/data/workspaces/one/tree")}};
  }
};

TEST_F(LandlockedTest, TheHiddenCannotBeOpenedChangedOrRemoved) {
  std::string token = at("home/data/admin.token");
  EXPECT_FALSE(confined(steps(), [&] { return can_read(token); }));
  EXPECT_FALSE(confined(steps(), [&] { return can_read("/proc/self/root" + token); }));
  EXPECT_FALSE(confined(steps(), [&] { return can_read(at("home/link/admin.token")); }));
  EXPECT_FALSE(confined(steps(), [&] { return can_read(at("home/data")); })) << "its names";
  EXPECT_FALSE(confined(steps(), [&] { return ::truncate(token.c_str(), 0) == 0; }));
  EXPECT_FALSE(confined(steps(), [&] { return ::unlink(token.c_str()) == 0; }));
  EXPECT_FALSE(confined(steps(), [&] { return ::link(token.c_str(), at("work/mine").c_str()) == 0; }));
  EXPECT_FALSE(confined(steps(), [&] { return ::rename(at("home/data").c_str(), at("work/mine").c_str()) == 0; }));
  EXPECT_FALSE(confined(steps(), [&] { return ::rename(at("home").c_str(), at("work/mine").c_str()) == 0; }));
  EXPECT_EQ(files::file_size(token), 5u);
}

TEST_F(LandlockedTest, AllElseIsThere) {
  EXPECT_TRUE(confined(steps(), [&] { return can_read(at("home/.bashrc")) && can_read("/usr"); }));
  EXPECT_TRUE(confined(steps(), [&] {
    std::ofstream(at("work/new")) << "x";
    return ::rename(at("work/new").c_str(), at("home/.claude/new").c_str()) == 0;
  }));
  EXPECT_TRUE(confined(steps(), [&] { return ::mkdir(at("home/data/workspaces/one/tree/new").c_str(), 0700) == 0; }));
  // The restrictions that this costs.
  EXPECT_FALSE(confined(steps(), [&] { return can_read(at("home")); })) << "names beside the hidden";
  EXPECT_FALSE(confined(steps(), [&] { return ::mkdir(at("home/new").c_str(), 0700) == 0; })) << "new ones beside it";
}

TEST_F(LandlockedTest, NoProcessButItsOwnIsWithinReach) {
  std::string others = "/proc/" + std::to_string(::getpid());
  EXPECT_FALSE(confined({}, [&] { return ::kill(::getppid(), 0) == 0; }));
  for (const char* part : {"/environ", "/mem", "/maps"}) {
    ASSERT_TRUE(can_read(others + part));
    EXPECT_FALSE(confined({}, [&] { return can_read(others + part); })) << part;
  }
  EXPECT_TRUE(confined({}, [&] {
    pid_t own = ::fork();
    if (own == 0) ::_exit(::pause());
    bool ended = can_read("/proc/" + std::to_string(own) + "/environ") && ::kill(own, SIGKILL) == 0;
    return ended && ::waitpid(own, nullptr, 0) == own;
  }));
}

}  // namespace
}  // namespace shepherd
