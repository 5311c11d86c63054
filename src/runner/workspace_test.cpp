#include "runner/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "process/test_agents.h"
#include "runner/limits.h"
#include "runner/pull_request_link.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() : root_(files::temp_directory_path() / fresh_mark()), repository_(root_ / "repository") {
    files::create_directories(repository_);
    options_.directory = repository_;
    options_.workspaces = root_ / "workspaces";
    options_.warden_program = MISBEHAVING_AGENT;
    options_.environment = {"PATH=/usr/bin:/bin",   "HOME=" + root_.string(),
                            "GIT_AUTHOR_NAME=a",    "GIT_AUTHOR_EMAIL=a@b.invalid",
                            "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.invalid"};
    order_.task = "task-1";
  }
  ~WorkspaceTest() override { files::remove_all(root_); }

  Git git(const files::path& directory) { return {directory, options_.environment, clock_, MISBEHAVING_AGENT}; }
  void write(const files::path& path, const std::string& text) { std::ofstream(path) << text; }
  void make_repository() {
    ASSERT_TRUE(git(repository_).run({"init", "-q", "-b", "trunk"}));
    write(repository_ / "file", "one\n");
    commit(repository_, "first");
  }
  void commit(const files::path& directory, const std::string& message) {
    ASSERT_TRUE(git(directory).run({"add", "."}));
    auto done = git(directory).run({"commit", "-q", "-m", message});
    ASSERT_TRUE(done) << done.error().message;
  }
  static std::string text_of(const files::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  Workspace prepare() {
    auto made = Workspace::prepare(order_, options_, clock_);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }

  SystemClock clock_;
  files::path root_, repository_;
  WorkspaceOptions options_;
  TaskOrder order_;
};

TEST_F(WorkspaceTest, ADirectoryAsItIs) {
  Workspace workspace = prepare();
  EXPECT_EQ(workspace.directory(), repository_.string());
  EXPECT_FALSE(workspace.collect()) << "it is no git work tree";
  options_.directory = root_ / "missing";
  EXPECT_EQ(Workspace::prepare(order_, options_, clock_).error().reason, "no_directory");
}

TEST_F(WorkspaceTest, OnlyWhatTheAgentChangedCounts) {
  make_repository();
  write(repository_ / "file", "mine\n");
  write(repository_ / "untracked", "mine\n");
  Workspace workspace = prepare();
  EXPECT_TRUE(workspace.collect()->empty());
  write(repository_ / "new", "a\nb\n");
  auto work = workspace.collect();
  EXPECT_EQ(work->files, std::vector<std::string>{"new"});
  EXPECT_EQ(work->insertions, 2);
  EXPECT_EQ(work->branch, "trunk");
}

TEST_F(WorkspaceTest, ARepositoryWithoutACommit) {
  ASSERT_TRUE(git(repository_).run({"init", "-q", "-b", "trunk"}));
  Workspace workspace = prepare();
  write(repository_ / "file", "one\n");
  commit(repository_, "first");
  auto work = workspace.collect();
  EXPECT_EQ(work->commit_count, 1u);
  EXPECT_EQ(work->insertions, 1);
}

TEST_F(WorkspaceTest, AWorkTreeOnItsOwnBranch) {
  make_repository();
  options_.kind = WorkspaceKind::worktree;
  files::create_directories(repository_ / "sub");
  write(repository_ / "sub" / "inner", "x\n");
  commit(repository_, "second");
  options_.directory = repository_ / "sub";
  Workspace workspace = prepare();
  EXPECT_EQ(workspace.directory(), (root_ / "workspaces/task-1/tree/sub/").string());
  write(root_ / "workspaces/task-1/tree/file", "two\n");
  commit(root_ / "workspaces/task-1/tree", "third");
  auto work = workspace.collect();
  EXPECT_EQ(work->branch, "shepherd/task-1");
  EXPECT_EQ(work->commit_count, 1u);
  EXPECT_EQ(work->files, std::vector<std::string>{"file"});
  EXPECT_EQ(work->insertions, 1);
  EXPECT_EQ(work->deletions, 1);
}

TEST_F(WorkspaceTest, AWorkTreeNeedsARepositoryWithACommit) {
  options_.kind = WorkspaceKind::worktree;
  EXPECT_EQ(Workspace::prepare(order_, options_, clock_).error().reason, "no_repository");
  ASSERT_TRUE(git(repository_).run({"init", "-q"}));
  EXPECT_EQ(Workspace::prepare(order_, options_, clock_).error().reason, "no_commit");
}

TEST_F(WorkspaceTest, AClone) {
  make_repository();
  ASSERT_TRUE(git(repository_).run({"checkout", "-q", "-b", "other"}));
  write(repository_ / "file", "other\n");
  commit(repository_, "on other");
  ASSERT_TRUE(git(repository_).run({"checkout", "-q", "trunk"}));
  options_.kind = WorkspaceKind::clone;
  order_.repo_url = repository_;
  order_.repo_ref = "other";
  Workspace workspace = prepare();
  std::ostringstream text;
  text << std::ifstream(workspace.directory() + "/file").rdbuf();
  EXPECT_EQ(text.str(), "other\n");
  EXPECT_EQ(workspace.collect()->branch, "shepherd/task-1");
  order_.task = "task-2";
  order_.repo_ref = "no-such-ref";
  EXPECT_EQ(Workspace::prepare(order_, options_, clock_).error().reason, "git_failed");
  order_.repo_ref = "--upload-pack=evil";
  EXPECT_EQ(Workspace::prepare(order_, options_, clock_).error().reason, "bad_repository");
}

TEST_F(WorkspaceTest, ContextLiesBesideTheTree) {
  make_repository();
  order_.context = "know this";
  Workspace workspace = prepare();
  ASSERT_EQ(workspace.environment().size(), 1u);
  std::string path = workspace.environment()[0].substr(std::string("SHEPHERD_CONTEXT=").size());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "know this");
  EXPECT_TRUE(workspace.collect()->empty());
}

TEST_F(WorkspaceTest, RulesLieBesideTheTree) {
  make_repository();
  write(repository_ / "CLAUDE.md", "the repository's own\n");
  commit(repository_, "instructions");
  files::create_directories(root_ / "rules");
  write(root_ / "rules" / "2-style.md", "Short sentences.");
  write(root_ / "rules" / "1-git.md", "Do not push.\n");
  write(root_ / "rules" / "notes.txt", "not a rule");
  options_.rules = root_ / "rules";
  for (WorkspaceKind kind : {WorkspaceKind::as_is, WorkspaceKind::worktree, WorkspaceKind::clone}) {
    options_.kind = kind;
    order_.task = "task-" + std::to_string(static_cast<int>(kind));
    order_.repo_url = repository_;
    Workspace workspace = prepare();
    EXPECT_EQ(workspace.rules(), "Do not push.\n\nShort sentences.");
    ASSERT_EQ(workspace.environment().size(), 1u);
    std::string path = workspace.environment()[0].substr(std::string("SHEPHERD_RULES=").size());
    EXPECT_EQ(text_of(path), workspace.rules());
    EXPECT_EQ(text_of(workspace.directory() + "/CLAUDE.md"), "the repository's own\n");
    EXPECT_TRUE(workspace.collect()->empty());
    EXPECT_EQ(git(workspace.directory()).ask({"status", "--porcelain", "--ignored"}), "") << "not even ignored files";
  }
}

TEST_F(WorkspaceTest, RulesThatCannotBeReadAreAnError) {
  auto reason = [this] { return Workspace::prepare(order_, options_, clock_).error().reason; };
  options_.rules = root_ / "missing.md";
  EXPECT_EQ(reason(), "no_rules");
  options_.rules = repository_;
  EXPECT_EQ(reason(), "no_rules") << "a directory without any";
  options_.rules = root_ / "large.md";
  write(options_.rules, std::string(kMaxRulesBytes + 1, 'x'));
  EXPECT_EQ(reason(), "rules_too_large");
  write(options_.rules, std::string("a\0b", 3));
  EXPECT_EQ(reason(), "bad_rules");
}

// Simulates git on a dead line: a git that never ends, with a child that ignores even SIGTERM.
class StoppedWorkspaceTest : public WorkspaceTest {
 protected:
  StoppedWorkspaceTest() {
    options_.environment[0] = "PATH=" + (root_ / "bin").string() + ":/usr/bin:/bin";
    options_.environment.push_back("SHEPHERD_TEST_MARK=" + mark_);
    options_.stop = &stop_;
    files::create_directories(root_ / "bin");
  }
  // `stuck` is the git command that hangs.
  void hang(const std::string& stuck) {
    files::path program = root_ / "bin" / "git";
    write(program, "#!/bin/sh\ncase \"$*\" in *'" + stuck + "'*) (trap '' TERM; : > '" + (root_ / "stuck").string() +
                       "'; sleep 600; sleep 600) & wait;; esac\nexec /usr/bin/git \"$@\"\n");
    files::permissions(program, files::perms::owner_all);
  }
  void stop_when_stuck() {
    std::thread operator_([this] {
      EXPECT_TRUE(eventually([this] { return files::exists(root_ / "stuck"); }));
      stop_.stop();
    });
    auto made = Workspace::prepare(order_, options_, clock_);
    operator_.join();
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason, "program_stopped");
    EXPECT_TRUE(carriers_of(mark_).empty()) << "somebody of git is left";
    ASSERT_TRUE(stop_.end()) << "nobody says who was ended";
    EXPECT_GE(stop_.end()->ended.size(), 2u) << "git and its child";
    EXPECT_FALSE(files::exists(root_ / "workspaces" / order_.task / "tree"));
  }

  std::string mark_ = fresh_mark();
  ProgramStop stop_;
};

TEST_F(StoppedWorkspaceTest, ACloneEndsAtOnce) {
  make_repository();
  hang("clone");
  options_.kind = WorkspaceKind::clone;
  order_.repo_url = repository_;
  stop_when_stuck();
}

TEST_F(StoppedWorkspaceTest, AWorkTreeEndsAtOnceAndLeavesNoBranch) {
  make_repository();
  // The work tree exists and the next command hangs: the last moment for a stop.
  hang("rev-parse --show-prefix");
  options_.kind = WorkspaceKind::worktree;
  stop_when_stuck();
  EXPECT_EQ(git(repository_).ask({"branch", "--list", "shepherd/*"}), "");
  EXPECT_EQ(git(repository_).ask({"worktree", "list", "--porcelain"}).find("task-1"), std::string::npos);
}

TEST_F(StoppedWorkspaceTest, WhatAnEarlierRunLeftStays) {
  make_repository();
  options_.kind = WorkspaceKind::clone;
  order_.repo_url = repository_;
  files::create_directories(root_ / "workspaces/task-1/tree");
  write(root_ / "workspaces/task-1/tree/work", "of an hour\n");
  stop_.stop();
  EXPECT_EQ(Workspace::prepare(order_, options_, clock_).error().reason, "program_stopped");
  EXPECT_TRUE(files::exists(root_ / "workspaces/task-1/tree/work"));
}

// git asks the helper as for a clone over https; the token must come from the variable and appear nowhere else.
TEST_F(WorkspaceTest, TheTokenIsGivenToGitByAVariable) {
  std::vector<std::string> variables = git_credentials("token-value-1", "https://me@example.org/a/b.git");
  int holders = 0;
  for (const std::string& variable : variables) holders += variable.find("token-value-1") != std::string::npos ? 1 : 0;
  EXPECT_EQ(holders, 1);
  auto asked = [&](const std::string& protocol, const std::string& host) {
    AgentSpec spec;
    spec.command = {
        "sh", "-c",
        "printf 'protocol=" + protocol + "\\nhost=" + host + "\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill"};
    spec.environment = options_.environment;
    spec.environment.insert(spec.environment.end(), variables.begin(), variables.end());
    spec.directory = "/";
    spec.warden_program = MISBEHAVING_AGENT;
    auto ran = run_program(spec, 20s, clock_);
    return ran ? ran->out : ran.error().message;
  };
  std::string given = asked("https", "example.org");
  EXPECT_NE(given.find("username=x-access-token\npassword=token-value-1\n"), std::string::npos) << given;
  for (const char* other : {"localhost", "evil.example.org", "example.org.evil.net", "example.org:8443"}) {
    EXPECT_EQ(asked("https", other).find("token-value-1"), std::string::npos) << other;
  }
  EXPECT_EQ(asked("http", "example.org").find("token-value-1"), std::string::npos) << "not in the clear";
  EXPECT_TRUE(git_credentials("", "https://example.org/x").empty());
}

// A helper of the user's own configuration would store the token.
TEST_F(WorkspaceTest, TheTokenIsKeptByNobody) {
  write(root_ / ".gitconfig", "[credential]\n\thelper = store\n");
  AgentSpec spec;
  spec.command = {"sh", "-c",
                  "printf 'protocol=https\nhost=example.org\nusername=u\npassword=token-value-1\n\n' | "
                  "git credential approve"};
  spec.environment = options_.environment;
  spec.directory = "/";
  spec.warden_program = MISBEHAVING_AGENT;
  ASSERT_TRUE(run_program(spec, 20s, clock_));
  ASSERT_TRUE(files::exists(root_ / ".git-credentials")) << "without ours it is kept";
  files::remove(root_ / ".git-credentials");
  for (std::string& variable : git_credentials("token-value-1", "https://example.org/x")) {
    spec.environment.push_back(std::move(variable));
  }
  ASSERT_TRUE(run_program(spec, 20s, clock_));
  EXPECT_FALSE(files::exists(root_ / ".git-credentials"));
}

TEST_F(WorkspaceTest, ATokenIsForHttpsOrThisMachine) {
  for (const char* good :
       {"https://example.org/x", "http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]:1/x"}) {
    EXPECT_TRUE(takes_token(good)) << good;
  }
  for (const char* bad : {"http://example.org/x", "http://127.0.0.1.evil.net/x", "http://localhost@evil.net/x",
                          "ssh://git@example.org/x", "git@example.org:a/b", "file:///srv/x", "/srv/x", ""}) {
    EXPECT_FALSE(takes_token(bad)) << bad;
    EXPECT_TRUE(git_credentials("token", bad).empty()) << bad;
  }
}

TEST_F(WorkspaceTest, EveryTaskIdHasABranch) {
  EXPECT_EQ(task_branch("task-1.2"), "shepherd/task-1.2");
  make_repository();
  options_.kind = WorkspaceKind::clone;
  order_.repo_url = repository_;
  for (const char* id : {"x.lock", "a..b", "enddot.", ".begins", "a...", "...", "x.lock.lock", "-dash"}) {
    order_.task = id;
    auto made = Workspace::prepare(order_, options_, clock_);
    ASSERT_TRUE(made) << id << ": " << made.error().message;
    EXPECT_EQ(made->collect()->branch, task_branch(id));
  }
}

TEST_F(WorkspaceTest, AUrlNamesNoProgram) {
  options_.kind = WorkspaceKind::clone;
  for (const char* url : {"fd::17/foo", "evil::x", "ext::sh -c true"}) {
    order_.repo_url = url;
    auto made = Workspace::prepare(order_, options_, clock_);
    ASSERT_FALSE(made) << url;
    EXPECT_NE(made.error().message.find("not allowed"), std::string::npos) << made.error().message;
  }
}

// Every way in which a tree can make git run the agent's code after the agent's end.
TEST_F(WorkspaceTest, NothingOfTheAgentRunsWhenItsWorkIsLookedAt) {
  make_repository();
  options_.kind = WorkspaceKind::clone;
  options_.environment.push_back("SHEPHERD_REPOSITORY_TOKEN=token-value-1");
  order_.repo_url = repository_;
  Workspace workspace = prepare();
  files::path tree = workspace.directory(), proof = root_ / "ran";
  files::path script = root_ / "script";
  write(script, "#!/bin/sh\nenv >> '" + proof.string() + "'\ncat; exec sleep 600\n");
  files::permissions(script, files::perms::owner_all);
  Git inside = git(tree);
  for (const char* key : {"core.fsmonitor", "diff.external", "core.pager", "core.sshCommand", "gpg.program",
                          "credential.helper", "filter.evil.clean", "filter.evil.process", "filter.a=b.c.clean",
                          "diff.evil.textconv", "diff.evil.command", "gpg.x509.program"}) {
    ASSERT_TRUE(inside.run({"config", key, script})) << key;
  }
  ASSERT_TRUE(inside.run({"config", "core.hooksPath", root_.string()}));
  ASSERT_TRUE(inside.run({"config", "filter.evil.required", "true"}));
  ASSERT_TRUE(inside.run({"config", "log.showSignature", "true"}));
  std::string signed_commit = git(repository_).ask({"cat-file", "commit", "HEAD"}) + "\n";
  signed_commit.insert(signed_commit.find("\n\n"),
                       "\ngpgsig -----BEGIN SIGNED MESSAGE-----\n x\n -----END SIGNED MESSAGE-----");
  write(root_ / "commit", signed_commit);
  std::string hash = git(tree).ask({"hash-object", "-t", "commit", "-w", root_ / "commit"});
  ASSERT_TRUE(inside.run({"update-ref", "HEAD", hash}));
  files::copy_file(script, root_ / "post-index-change");
  write(tree / ".git/info/attributes", "file filter=evil diff=evil\nother filter=a=b.c\n");
  write(tree / "file", "one\ntwo\n");
  write(tree / "other", "1\n2\n3\n");
  auto before = std::chrono::steady_clock::now();
  auto result = workspace.collect();
  EXPECT_LT(std::chrono::steady_clock::now() - before, kWorkResultTimeout + 20s);
  EXPECT_FALSE(files::exists(proof)) << text_of(proof);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->files, (std::vector<std::string>{"file", "other"}));
  EXPECT_EQ(result->insertions, 4);
  EXPECT_EQ(result->head, hash);
}

// The agent of a work tree can write to the repository's own directory.
TEST_F(WorkspaceTest, NoHookOfTheRepositoryRunsWhenAWorkTreeIsMade) {
  make_repository();
  files::path hook = repository_ / ".git/hooks/post-checkout", proof = root_ / "ran";
  files::create_directories(hook.parent_path());
  write(hook, "#!/bin/sh\n: > '" + proof.string() + "'\n");
  files::permissions(hook, files::perms::owner_all);
  options_.kind = WorkspaceKind::worktree;
  prepare();
  EXPECT_FALSE(files::exists(proof));
}

TEST_F(WorkspaceTest, WhoLooksHasNothingThatAnAgentWants) {
  make_repository();
  std::vector<std::string> environment = options_.environment;
  for (std::string& variable : git_credentials("token-value-1", "https://example.org/x")) {
    environment.push_back(std::move(variable));
  }
  environment.emplace_back("SSH_ASKPASS=/usr/bin/true");
  Git looks = Git(repository_, environment, clock_, MISBEHAVING_AGENT).inspecting().without_filters();
  std::string seen = looks.ask({"-c", "alias.show-variables=!env", "show-variables"});
  EXPECT_NE(seen.find("PATH="), std::string::npos) << seen;
  EXPECT_EQ(seen.find("token-value-1"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("/usr/bin/true"), std::string::npos) << seen;
}

// An agent could make its runner read and report files that are not its own.
TEST_F(WorkspaceTest, AWorkTreeThatTheConfigurationNamesIsNotLookedAt) {
  make_repository();
  files::path elsewhere = root_ / "elsewhere";
  files::create_directories(elsewhere);
  write(elsewhere / "file", "another\n");
  write(elsewhere / "of somebody else", "1\n2\n3\n");
  for (WorkspaceKind kind : {WorkspaceKind::as_is, WorkspaceKind::worktree, WorkspaceKind::clone}) {
    options_.kind = kind;
    order_.task = "task-" + std::to_string(static_cast<int>(kind));
    order_.repo_url = repository_;
    Workspace workspace = prepare();
    files::path tree = workspace.directory();
    ASSERT_TRUE(git(tree).run({"config", "core.worktree", elsewhere}));
    write(tree / "file", "one\ntwo\n");
    auto result = workspace.collect();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->files, std::vector<std::string>{"file"}) << tree;
    EXPECT_EQ(result->insertions, 1) << tree;
    write(tree / "file", "one\n");
    ASSERT_TRUE(git(tree).run({"config", "--unset", "core.worktree"}));
  }
}

TEST_F(WorkspaceTest, NorOneThatAnEarlierAgentNamed) {
  make_repository();
  files::create_directories(root_ / "elsewhere");
  ASSERT_TRUE(git(repository_).run({"config", "core.worktree", root_ / "elsewhere"}));
  Workspace workspace = prepare();
  write(repository_ / "file", "one\ntwo\n");
  auto result = workspace.collect();
  ASSERT_TRUE(result) << "it is a git work tree all the same";
  EXPECT_EQ(result->files, std::vector<std::string>{"file"});
}

// A repository that an agent puts in place of its own does not count.
TEST_F(WorkspaceTest, ARepositoryThatIsGoneIsNotLookedForElsewhere) {
  make_repository();
  files::create_directories(repository_ / "inner");
  options_.directory = repository_ / "inner";
  ASSERT_TRUE(git(options_.directory).run({"init", "-q", "-b", "inner"}));
  Workspace workspace = prepare();
  files::remove_all(repository_ / "inner/.git");
  auto result = workspace.collect();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->branch, "") << "of the repository around it";
  EXPECT_TRUE(result->empty());
}

// A pipe in place of a file, and links to files that never end, must not delay the inspection.
TEST_F(WorkspaceTest, ATreeThatBlocksWhoLooksHoldsNobodyUp) {
  make_repository();
  Workspace workspace = prepare();
  ASSERT_EQ(::mkfifo((repository_ / ".gitignore").c_str(), 0600), 0);
  files::create_symlink("/dev/zero", repository_ / "endless");
  write(root_ / "text", "1\n2\n3\n");
  files::create_symlink(root_ / "text", repository_ / "link");
  auto before = std::chrono::steady_clock::now();
  auto result = workspace.collect();
  EXPECT_LT(std::chrono::steady_clock::now() - before, kWorkResultTimeout + 20s);
  ASSERT_TRUE(result);
  files::remove(repository_ / ".gitignore");
  result = workspace.collect();
  EXPECT_EQ(result->files, (std::vector<std::string>{"endless", "link"}));
  EXPECT_EQ(result->insertions, 0) << "what it leads to is not its content";
}

TEST(PullRequestLink, IsFoundAndHeldAgainstTheRepository) {
  EXPECT_EQ(pull_request_link(R"({"text":"see https://github.com/a/b/pull/12\n"})", ""),
            "https://github.com/a/b/pull/12");
  EXPECT_EQ(pull_request_link("https://gitlab.com/g/h/p/-/merge_requests/3.", ""),
            "https://gitlab.com/g/h/p/-/merge_requests/3");
  EXPECT_EQ(pull_request_link("https://github.com/a/b/pull/1 https://github.com/a/b/pull/2", ""),
            "https://github.com/a/b/pull/2");
  EXPECT_EQ(pull_request_link("https://github.com/a/b/pull/new/x", ""), "");
  EXPECT_EQ(pull_request_link("a/pull/12", ""), "");
  EXPECT_EQ(pull_request_link("https://github.com/x/y/pull/12", "https://github.com/a/b.git"), "");
  EXPECT_EQ(pull_request_link("https://github.com/a/b/pull/12", "git@github.com:a/b.git"),
            "https://github.com/a/b/pull/12");
}

}  // namespace
}  // namespace shepherd
