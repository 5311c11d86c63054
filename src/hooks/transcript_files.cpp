#include "hooks/transcript_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/limits.h"
#include "base/whole_file.h"
#include "driver/line_splitter.h"
#include "hooks/limits.h"
#include "json/scan.h"
#include "terminal/byte_input.h"

namespace shepherd {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> read_lines(const std::string& path) {
  Result<ByteInput> input = ByteInput::open(path);
  if (!input) return fail(input.error());
  std::vector<std::string> lines;
  LineSplitter splitter;
  auto keep = [&](const Line& line) { lines.emplace_back(line.text); };
  for (;;) {
    Result<std::string_view> bytes = input->next();
    if (!bytes) return fail(bytes.error());
    if (bytes->empty()) break;
    splitter.add(*bytes, keep);
  }
  splitter.finish(keep);
  return lines;
}

bool is_session_file(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_regular_file(error) && entry.path().extension() == ".jsonl" &&
         !entry.path().filename().string().starts_with("agent-");
}

template <class Visit>
void for_each_entry(const fs::path& directory, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) visit(*at);
}

}  // namespace

std::string sub_agent_call(const std::string& file) {
  auto meta = read_whole_file(fs::path(file).replace_extension(".meta.json").string(), kMaxMetaBytes);
  if (!meta || !*meta) return {};
  return string_value(find_member(**meta, "toolUseId")).value_or("");
}

Result<std::string> transcripts_directory(const Environment& environment) {
  std::string base = environment("CLAUDE_CONFIG_DIR");
  if (base.empty() && !environment("HOME").empty()) base = environment("HOME") + "/.claude";
  if (base.empty()) return fail(ErrorCode::invalid_argument, "no_home", "HOME is not set; name a transcript file");
  return base + "/projects";
}

Result<std::vector<std::string>> all_transcripts(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return fail(ErrorCode::not_found, "no_transcripts",
                fmt::format("there is no {}: Claude Code has not run here, or keeps its files elsewhere "
                            "(CLAUDE_CONFIG_DIR)",
                            directory));
  }
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for_each_entry(directory, [&](const fs::directory_entry& project) {
    std::error_code ignored;
    if (!project.is_directory(ignored)) return;
    for_each_entry(project.path(), [&](const fs::directory_entry& file) {
      if (is_session_file(file)) found.emplace_back(file.last_write_time(ignored), file.path().string());
    });
  });
  std::ranges::sort(found);
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

Result<std::string> transcript_of_session(const std::string& directory, const std::string& session) {
  std::string path;
  for_each_entry(directory, [&](const fs::directory_entry& project) {
    fs::path file = project.path() / (session + ".jsonl");
    std::error_code error;
    if (fs::is_regular_file(file, error)) path = file.string();
  });
  if (path.empty()) {
    return fail(ErrorCode::not_found, "no_transcript",
                fmt::format("neither a file {} nor a session of that id in {}", session, directory));
  }
  return path;
}

Result<std::vector<TranscriptFile>> read_transcript_files(const std::string& path) {
  Result<std::vector<std::string>> own = read_lines(path);
  if (!own) return fail(own.error());
  std::vector<TranscriptFile> files;
  files.push_back({"", *std::move(own)});
  fs::path beside(path);
  beside.replace_extension();
  std::vector<fs::path> sidechains;
  for_each_entry(beside / "subagents", [&](const fs::directory_entry& entry) {
    bool wanted = entry.path().extension() == ".jsonl" && sidechains.size() < kMaxSidechains;
    if (wanted) sidechains.push_back(entry.path());
  });
  std::ranges::sort(sidechains);
  for (const fs::path& file : sidechains) {
    Result<std::vector<std::string>> lines = read_lines(file.string());
    if (!lines) return fail(lines.error());
    files.push_back({sub_agent_call(file.string()), *std::move(lines)});
  }
  return files;
}

}  // namespace shepherd
