#include "hooks/rollout_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace shepherd {
namespace {

// Names begin with the time, so their order is that of the sessions.
std::vector<std::filesystem::path> rollouts_in(const std::string& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(directory, error);
  for (std::filesystem::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    bool named = at->path().filename().string().starts_with("rollout-") && at->path().extension() == ".jsonl";
    if (named && at->is_regular_file(ignored)) found.push_back(at->path());
  }
  std::ranges::sort(found, {}, [](const std::filesystem::path& path) { return path.filename(); });
  return found;
}

}  // namespace

Result<std::string> rollouts_directory(const Environment& environment) {
  std::string base = environment("CODEX_HOME");
  if (base.empty() && !environment("HOME").empty()) base = environment("HOME") + "/.codex";
  if (base.empty()) return fail(ErrorCode::invalid_argument, "no_home", "HOME is not set; name a session's file");
  return base + "/sessions";
}

Result<std::vector<std::string>> all_rollouts(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    return fail(
        ErrorCode::not_found, "no_transcripts",
        fmt::format("there is no {}: Codex has not run here, or keeps its files elsewhere (CODEX_HOME)", directory));
  }
  std::vector<std::string> paths;
  for (const auto& path : rollouts_in(directory)) paths.push_back(path.string());
  return paths;
}

Result<std::string> rollout_of_session(const std::string& directory, const std::string& session) {
  for (const auto& path : rollouts_in(directory)) {
    if (!session.empty() && path.stem().string().ends_with("-" + session)) return path.string();
  }
  return fail(ErrorCode::not_found, "no_transcript",
              fmt::format("neither a file {} nor a session of that id in {}", session, directory));
}

}  // namespace shepherd
