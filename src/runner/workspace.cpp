#include "runner/workspace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/descriptor.h"
#include "base/limits.h"
#include "process/limits.h"
#include "runner/limits.h"
#include "runner/rules.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;

// The empty tree, which every git has; a repository without commits is compared with it.
constexpr const char* kEmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

// Returns the top of the work tree around `directory`, as git finds it, or an empty text.
std::string tree_of(const std::string& directory) {
  std::error_code error;
  files::path above = files::canonical(directory, error);
  for (; !above.empty(); above = above.parent_path()) {
    // A directory with that name counts only if it is a repository; a file refers to one, or git fails.
    if (files::is_regular_file(above / ".git", error) || files::exists(above / ".git/HEAD", error)) {
      return above.string();
    }
    if (above == above.root_path()) break;
  }
  return {};
}

std::unexpected<Error> cannot_make(const std::string& path, const std::error_code& error) {
  return fail(ErrorCode::unavailable, "cannot_write", "cannot make " + path + ": " + error.message());
}

Result<void> clone(const TaskOrder& order, const Git& git, const std::string& directory) {
  if (order.repo_url.starts_with('-') || order.repo_ref.starts_with('-')) {
    return fail(ErrorCode::invalid_argument, "bad_repository", "a repository or ref may not begin with a dash");
  }
  Result<std::string> cloned = git.run({"clone", "--quiet", "--no-checkout", "--", order.repo_url, directory});
  if (!cloned) return fail(std::move(cloned.error()));
  Git inside = git.in(directory);
  std::string start = "HEAD";
  if (!order.repo_ref.empty()) {
    // A branch has the remote's name; tags and commits have their own.
    std::string remote = "refs/remotes/origin/" + order.repo_ref;
    start = inside.run({"rev-parse", "--verify", "--quiet", remote}) ? remote : order.repo_ref;
  }
  Result<std::string> out = inside.run({"checkout", "--quiet", "--no-track", "-b", task_branch(order.task), start});
  if (!out) return fail(std::move(out.error()));
  return {};
}

Result<void> add_worktree(const TaskOrder& order, const Git& git, const std::string& directory) {
  if (!git.run({"rev-parse", "--git-dir"})) {
    return fail(ErrorCode::invalid_argument, "no_repository",
                git.directory() + " is not in a git repository, so it can have no work tree of its own");
  }
  if (!git.run({"rev-parse", "--verify", "--quiet", "HEAD"})) {
    return fail(ErrorCode::invalid_argument, "no_commit", "the repository has no commit yet to start a work tree from");
  }
  Result<std::string> added = git.run({"worktree", "add", "--quiet", "-b", task_branch(order.task), directory});
  if (!added) return fail(std::move(added.error()));
  return {};
}

// "3\t1\tpath" lines; binary files have dashes.
void add_numstat(WorkResult& result, std::string_view text) {
  for (const std::string& line : lines_of(text)) {
    std::size_t tab = line.find('\t');
    std::size_t second = tab == std::string::npos ? tab : line.find('\t', tab + 1);
    if (second == std::string::npos) continue;
    std::int64_t added = 0, removed = 0;
    std::from_chars(line.data(), line.data() + tab, added);
    std::from_chars(line.data() + tab + 1, line.data() + second, removed);
    result.insertions += added;
    result.deletions += removed;
    ++result.file_count;
    if (result.files.size() < kMaxResultFiles) result.files.push_back(line.substr(second + 1));
  }
}

// git cleans up after itself if it has the time, except for the branch; after a SIGKILL everything is left.
void discard(const std::string& task, const WorkspaceOptions& options, const Git& git, const std::string& directory) {
  std::error_code error;
  files::remove_all(directory, error);
  if (options.kind != WorkspaceKind::worktree) return;
  Git quick = git.stopped_by(nullptr).within(kProgramStopWait);
  quick.ask({"worktree", "prune"});
  quick.ask({"branch", "--quiet", "-D", task_branch(task)});
}

// Counts the lines of a regular file, never through a link or a pipe. Reads at most `bytes` and subtracts what it read.
std::int64_t line_count(const std::string& path, std::size_t& bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts{};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  std::int64_t lines = 0;
  std::array<char, 64 * kKiB> buffer{};
  while (bytes > 0) {
    ssize_t got = ::read(file.get(), buffer.data(), std::min(buffer.size(), bytes));
    if (got <= 0) break;
    bytes -= static_cast<std::size_t>(got);
    lines += std::count(buffer.begin(), buffer.begin() + got, '\n');
  }
  return lines;
}

}  // namespace

Result<Workspace> Workspace::prepare(const TaskOrder& order, const WorkspaceOptions& options, const Clock& clock) {
  std::error_code error;
  std::string beside = options.workspaces + "/" + order.task;
  std::string directory = options.directory;
  if (options.kind == WorkspaceKind::as_is && !files::is_directory(directory, error)) {
    return fail(ErrorCode::not_found, "no_directory", "there is no directory " + directory);
  }
  if (options.kind != WorkspaceKind::as_is) {
    directory = beside + "/tree";
    files::create_directories(beside, error);
    if (error) return cannot_make(beside, error);
  }
  Git git = Git(options.kind == WorkspaceKind::clone ? beside : options.directory, options.environment, clock,
                options.warden_program)
                .stopped_by(options.stop);
  const std::string tree = directory;
  const bool is_new = options.kind != WorkspaceKind::as_is && !files::exists(tree, error);
  Result<void> made;
  if (options.kind == WorkspaceKind::clone) {
    made = clone(order, git, tree);
  } else if (options.kind == WorkspaceKind::worktree) {
    made = add_worktree(order, git, tree);
    // The directory in the tree that matches the operator's.
    std::string inside = git.ask({"rev-parse", "--show-prefix"});
    if (!inside.empty() && files::is_directory(tree + "/" + inside, error)) directory += "/" + inside;
  }
  Workspace workspace(options.kind, directory, git.in(directory).inspecting());
  workspace.clock_ = &clock;
  if (made) made = workspace.stage(order, options, beside);
  if (made) workspace.remember_start();
  if (options.stop != nullptr && options.stop->stopped()) {
    // The leftovers of another run of the task, or a branch that was in the way, are not ours to remove.
    if (is_new && (made || made.error().reason == "program_stopped")) discard(order.task, options, git, tree);
    return fail(ErrorCode::gone, "program_stopped", "stopped while its place to work was made");
  }
  if (!made) return fail(std::move(made.error()));
  workspace.git_ = workspace.git_.stopped_by(nullptr);  // results are also inspected after a stop
  return workspace;
}

// Beside the tree, so that no file of the user is overwritten or committed by accident.
Result<void> Workspace::stage(const TaskOrder& order, const WorkspaceOptions& options, const std::string& beside) {
  Result<std::string> rules = read_rules(options.rules);
  if (!rules) return fail(std::move(rules.error()));
  rules_ = *std::move(rules);
  auto put = [&](const std::string& text, const char* name, const char* variable) -> Result<void> {
    if (text.empty()) return {};
    std::error_code error;
    files::create_directories(beside, error);
    if (error) return cannot_make(beside, error);
    std::string path = beside + "/" + name;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) return fail(ErrorCode::unavailable, "cannot_write", "cannot write " + path);
    environment_.push_back(std::string(variable) + "=" + path);
    return {};
  };
  if (Result<void> done = put(rules_, "rules.md", "SHEPHERD_RULES"); !done) return done;
  return put(order.context, "context.md", "SHEPHERD_CONTEXT");
}

void Workspace::remember_start() {
  // Not git's answer: its configuration, which an agent may have changed by then, could name another tree.
  std::string tree = tree_of(directory_);
  if (tree.empty()) return;
  git_ = git_.pinned_to(git_.pinned_to("", tree).ask({"rev-parse", "--absolute-git-dir"}), tree);
  is_git_ = git_.ask({"rev-parse", "--is-inside-work-tree"}) == "true";
  if (!is_git_) return;
  start_commit_ = git_.ask({"rev-parse", "--verify", "--quiet", "HEAD"});
  if (kind_ != WorkspaceKind::as_is) return;  // a fresh tree has no changes
  dirty_start_ = git_.without_filters().ask(numstat_words());
  untracked_start_ = lines_of(git_.ask({"ls-files", "--others", "--exclude-standard"}));
}

std::optional<WorkResult> Workspace::collect() const {
  if (!is_git_) return std::nullopt;
  std::int64_t until_ms = clock_->steady_ms() + kWorkResultTimeout.count();
  // Whatever the tree contains, inspecting it must not delay the task's end.
  Git look = git_.without_filters();
  auto ask = [&](std::vector<std::string> words) -> std::string {
    std::int64_t left_ms = until_ms - clock_->steady_ms();
    if (left_ms <= 0) return {};
    return look.within(std::min(kGitLookTimeout, std::chrono::milliseconds(left_ms))).ask(std::move(words));
  };
  WorkResult result;
  result.branch = ask({"rev-parse", "--abbrev-ref", "HEAD"});
  result.head = ask({"rev-parse", "--verify", "--quiet", "HEAD"});
  if (!result.head.empty() && result.head != start_commit_) {
    std::string range = start_commit_.empty() ? "HEAD" : start_commit_ + "..HEAD";
    result.commits = lines_of(ask({"log", "--format=%H %s", range}));
    result.commit_count = result.commits.size();
    if (result.commits.size() > kMaxResultCommits) result.commits.resize(kMaxResultCommits);
  }
  std::string changed = ask(numstat_words());
  // Changes that existed before the run and are still the same are not the agent's.
  std::vector<std::string> before = lines_of(dirty_start_);
  std::string fresh;
  for (const std::string& line : lines_of(changed)) {
    if (std::ranges::find(before, line) == before.end()) fresh.append(line).push_back('\n');
  }
  add_numstat(result, fresh);
  std::size_t bytes = kMaxCountedBytes;
  for (const std::string& path : lines_of(ask({"ls-files", "--others", "--exclude-standard"}))) {
    if (std::ranges::find(untracked_start_, path) != untracked_start_.end()) continue;
    if (clock_->steady_ms() < until_ms) result.insertions += line_count(git_.directory() + "/" + path, bytes);
    ++result.file_count;
    if (result.files.size() < kMaxResultFiles) result.files.push_back(path);
  }
  return result;
}

std::vector<std::string> Workspace::numstat_words() const {
  return {"diff", "--no-ext-diff", "--no-textconv", "--numstat", start_commit_.empty() ? kEmptyTree : start_commit_};
}

}  // namespace shepherd
