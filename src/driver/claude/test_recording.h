// Recordings of agents for tests: the lines of one run, and running them through a driver.
// Threads: caller.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "driver/claude/claude_code.h"
#include "driver/driver.h"
#include "driver/line_splitter.h"
#include "json/tree.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {

inline constexpr std::int64_t kRecordingStart = 1'794'766'800'000;

inline std::filesystem::path claude_golden() {
  return std::filesystem::path(SHEPHERD_GOLDEN_DIR) / "claude";
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  LineSplitter splitter;
  auto sink = [&](const Line& line) { lines.emplace_back(line.text); };
  splitter.add(bytes, sink);
  splitter.finish(sink);
  return lines;
}

struct Recording {
  std::string name;                 // file name without extension
  std::string out;                  // what the agent printed
  std::vector<std::string> in;      // lines that were written to it
  std::vector<std::int64_t> times;  // of its lines, when known
  ExitFacts exit;
  std::string errors;
  OutputFormat format = OutputFormat::stream;
};

// A recording of both directions keeps each line in an object.
inline void split_directions(Recording& recording, const std::string& bytes) {
  recording.format = OutputFormat::bidirectional;
  for (const auto& line : lines_of(bytes)) {
    auto entry = parse_tree(line).value();
    std::string text(entry.at("line").as_string());
    if (entry.at("dir").as_string() == "in") recording.in.push_back(text);
    if (entry.at("dir").as_string() != "out") continue;
    recording.out.append(text).push_back('\n');
    recording.times.push_back(entry.at("t_ms").to_number<std::int64_t>());
  }
}

inline Recording read_recording(const std::filesystem::path& path) {
  Recording recording;
  recording.name = path.stem().string();
  std::string bytes = read_file(path);
  if (bytes.starts_with(R"({"dir":)")) {
    split_directions(recording, bytes);
  } else {
    recording.out = bytes;
    if (path.extension() == ".json") recording.format = OutputFormat::batch;
    if (path.extension() == ".txt") recording.format = OutputFormat::text;
  }
  for (const auto& line : lines_of(read_file(claude_golden() / "INDEX.jsonl"))) {
    auto entry = parse_tree(line).value();
    if (entry.at("capture").as_string() != std::string_view(recording.name)) continue;
    if (entry.at("exit_code").is_number()) recording.exit.code = entry.at("exit_code").to_number<int>();
    if (entry.at("signal").is_string()) recording.exit.signal = 9;
    recording.errors = entry.at("stderr").as_string();
  }
  return recording;
}

inline std::vector<Recording> all_recordings() {
  std::map<std::string, Recording> sorted;
  for (const auto& entry : std::filesystem::directory_iterator(claude_golden() / "recordings")) {
    Recording recording = read_recording(entry.path());
    sorted.emplace(recording.name, std::move(recording));
  }
  std::vector<Recording> all;
  for (auto& [name, recording] : sorted) all.push_back(std::move(recording));
  return all;
}

inline Launch launch_as(OutputFormat format) {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.options.emplace(kOutputFormatOption, name(format));
  return launch;
}

// Everything a driver makes of a recording.
struct Translation {
  Actions out;
  Verdict verdict;
  Hints hints;
};

inline Translation translate(const Recording& recording, std::string_view bytes) {
  Translation result;
  ClaudeCode driver;
  EXPECT_TRUE(driver.launch(launch_as(recording.format)).has_value());
  std::size_t number = 0;
  auto time = [&] { return kRecordingStart + (number < recording.times.size() ? recording.times[number] : 0); };
  for (const auto& line : lines_of(bytes)) {
    driver.record(line, time(), result.out);
    ++number;
  }
  std::int64_t end = kRecordingStart + (recording.times.empty() ? 0 : recording.times.back());
  for (const auto& line : lines_of(recording.errors)) driver.stderr_line(line, end, result.out);
  result.verdict = driver.finish(recording.exit, end, result.out);
  result.hints = driver.hints();
  return result;
}

}  // namespace shepherd
