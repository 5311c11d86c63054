// Tests of the plan: which paths are hidden, kept and protected, and that files of an earlier agent cannot change it.
#include "process/confinement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace shepherd {
namespace {

namespace files = std::filesystem;
using Kind = ConfineStep::Kind;

class ConfinementTest : public testing::Test {
 protected:
  void SetUp() override {
    // Not under /tmp, which is private at level workspace.
    char name[] = "confinement-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = files::canonical(name);
    for (const char* each : {"data/workspaces/one/tree", "data/workspaces/two/tree", "data/spool", "home", "project"}) {
      files::create_directories(root_ / each);
    }
  }
  void TearDown() override { files::remove_all(root_); }

  std::string at(const std::string& path) const { return (root_ / path).string(); }
  void write(const std::string& path, const std::string& text) const {
    files::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::vector<ConfineStep> plan(ConfineLevel level, const std::string& directory) const {
    Confinement wanted{level, true, {at("data"), at("missing")}, {at("home")}, {}};
    auto steps = plan_confinement(wanted, at(directory));
    EXPECT_TRUE(steps) << steps.error().message;
    return steps.value_or(std::vector<ConfineStep>{});
  }

  files::path root_;
};

TEST_F(ConfinementTest, ATreeInsideTheDataDirectoryIsKeptAndItsNeighboursAreNot) {
  std::vector<ConfineStep> wanted{{Kind::hide_directory, at("data")}, {Kind::keep, at("data/workspaces/one/tree")}};
  EXPECT_EQ(plan(ConfineLevel::secrets, "data/workspaces/one/tree"), wanted);
}

TEST_F(ConfinementTest, ADataDirectoryInsideTheWorkDirectoryIsHidden) {
  std::vector<ConfineStep> wanted{{Kind::hide_directory, at("data")}};
  EXPECT_EQ(plan(ConfineLevel::secrets, ""), wanted);
}

TEST_F(ConfinementTest, NobodyWorksInTheDataDirectoryItself) {
  auto steps = plan_confinement({ConfineLevel::secrets, false, {at("data")}, {}, {}}, at("data"));
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().reason, "cannot_confine");
}

TEST_F(ConfinementTest, ALinkLeadsToTheSamePlace) {
  files::create_symlink(at("data"), at("link"));
  auto steps = plan_confinement({ConfineLevel::secrets, false, {at("link")}, {}, {}}, at("project"));
  ASSERT_TRUE(steps);
  EXPECT_EQ(*steps, (std::vector<ConfineStep>{{Kind::hide_directory, at("data")}}));
}

TEST_F(ConfinementTest, AtLevelWorkspaceOnlyTheTreeAndItsRepositoryAreWritable) {
  // As `git worktree add` writes it.
  write("project/.git/worktrees/tree/gitdir", at("data/workspaces/one/tree/.git") + "\n");
  write("data/workspaces/one/tree/.git", "gitdir: " + at("project/.git/worktrees/tree") + "\n");
  std::vector<ConfineStep> steps = plan(ConfineLevel::workspace, "data/workspaces/one/tree");
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front(), (ConfineStep{Kind::read_only, "/"}));
  EXPECT_TRUE(std::ranges::find(steps, ConfineStep{Kind::private_directory, "/tmp"}) != steps.end());
  std::erase_if(steps, [&](const ConfineStep& step) { return !step.path.starts_with(root_.string()); });
  std::vector<ConfineStep> wanted{{Kind::hide_directory, at("data")},
                                  {Kind::keep, at("data/workspaces/one/tree")},
                                  {Kind::keep, at("project/.git")}};
  EXPECT_EQ(steps, wanted);
}

// Agents wrote the contents of the tree.
TEST_F(ConfinementTest, ATreeDoesNotDecideWhatElseIsShownOrWritable) {
  write("project/.git", "gitdir: " + at("data/spool") + "\n");
  EXPECT_EQ(git_directories(at("project")), std::vector<std::string>{});
  files::remove(root_ / "project/.git");
  write("project/.git", "gitdir: " + at("home") + "\n");
  EXPECT_EQ(git_directories(at("project")), std::vector<std::string>{});
  files::remove(root_ / "project/.git");
  files::create_symlink(at("home"), at("project/.git"));
  EXPECT_EQ(git_directories(at("project")), std::vector<std::string>{});
  // A repository inside a hidden path has no effect either.
  files::remove(root_ / "project/.git");
  write("data/spool/.git/worktrees/x/gitdir", at("project/.git") + "\n");
  write("project/.git", "gitdir: " + at("data/spool/.git/worktrees/x") + "\n");
  EXPECT_EQ(plan(ConfineLevel::secrets, "project"), (std::vector<ConfineStep>{{Kind::hide_directory, at("data")}}));
}

TEST_F(ConfinementTest, NoneHasNoSteps) {
  EXPECT_EQ(plan(ConfineLevel::none, "data"), std::vector<ConfineStep>{});
}

TEST(ConfineLevelTest, NamesReadBack) {
  for (ConfineLevel level : {ConfineLevel::none, ConfineLevel::secrets, ConfineLevel::workspace}) {
    EXPECT_EQ(confine_level(name(level)), level);
  }
  EXPECT_FALSE(confine_level("container"));
}

}  // namespace
}  // namespace shepherd
