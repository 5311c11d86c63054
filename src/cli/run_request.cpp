#include "cli/run_request.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/clock.h"
#include "runner/git.h"
#include "runner/task_run.h"

namespace shepherd {
namespace {

namespace json = boost::json;

}  // namespace

Result<void> check_place(const RunRequest& request) {
  std::error_code error;
  std::string directory = request.directory.empty() ? "." : request.directory;
  if (!std::filesystem::is_directory(directory, error)) {
    bool exists = std::filesystem::exists(directory, error);
    return fail(ErrorCode::invalid_argument, "bad_directory",
                fmt::format("{} {}; give the directory to work in with -C", directory,
                            exists ? "is not a directory" : "does not exist"));
  }
  if (!request.worktree) return {};
  SystemClock clock;
  Git git(std::filesystem::absolute(directory, error).string(), agent_environment(), clock);
  if (git.ask({"rev-parse", "--git-dir"}).empty()) {
    return fail(ErrorCode::invalid_argument, "no_repository",
                fmt::format("{} is not in a git repository, so it cannot have a work tree; leave --worktree out, or "
                            "run \"git init\" and commit first",
                            directory));
  }
  if (git.ask({"rev-parse", "--verify", "--quiet", "HEAD"}).empty()) {
    return fail(
        ErrorCode::invalid_argument, "no_repository",
        fmt::format("the repository of {} has no commit yet; commit something, or leave --worktree out", directory));
  }
  return {};
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string RunRequest::command_line() const {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string creation_body(const RunRequest& request, const std::string& runner) {
  bool is_command = !request.command.empty();
  json::object task{{"description", is_command ? request.command_line() : request.prompt}};
  if (!request.context.empty()) task["context"] = request.context;
  json::object body{{"task", task}, {"agent", is_command ? "text" : request.agent}, {"runner", runner}};
  auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) body[key] = value;
  };
  text("id", request.id);
  text("title", request.name);
  text("model", request.model);
  text("mode", request.mode);
  text("resumeOf", request.resume_of);
  if (is_command) body["command"] = json::value_from(request.command);
  if (request.max_turns > 0) body["maxTurns"] = request.max_turns;
  if (request.timeout_seconds > 0) body["timeout"] = request.timeout_seconds;
  if (request.budget_usd > 0) body["budget"] = request.budget_usd;
  if (!request.allowed_tools.empty()) body["allowedTools"] = json::value_from(request.allowed_tools);
  if (!request.labels.empty()) body["labels"] = json::value_from(request.labels);
  return json::serialize(body);
}

}  // namespace shepherd
