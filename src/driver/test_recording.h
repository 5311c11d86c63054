// Recordings of agents for tests: tests/golden/FOLDER has what an agent printed (recordings/), how it was started and
// ended (INDEX.jsonl), and what the driver makes of it (expected/).
// Threads: caller.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "driver/line_splitter.h"
#include "driver/recorded_line.h"
#include "json/tree.h"

namespace shepherd {

inline constexpr std::int64_t kRecordingStart = 1'794'766'800'000;

inline std::filesystem::path golden_folder(std::string_view folder) {
  return std::filesystem::path(SHEPHERD_GOLDEN_DIR) / folder;
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
  std::string extension;            // ".jsonl"
  std::string out;                  // what the agent printed
  std::vector<std::string> in;      // lines that were written to it
  std::vector<std::int64_t> times;  // of its lines, when known
  std::vector<RecordedLine> lines;  // of both directions, when known
  ExitFacts exit;
  std::string errors;  // standard error

  bool both_directions() const { return !lines.empty(); }
};

// A recording of both directions keeps each line in an object.
inline void split_directions(Recording& recording, const std::string& bytes) {
  for (const auto& line : lines_of(bytes)) {
    auto said = recorded_line(line);
    if (!said || said->side == RecordedLine::Side::note) continue;
    recording.lines.push_back(*said);
    if (!said->from_agent()) {
      recording.in.push_back(said->text);
      continue;
    }
    recording.out.append(said->text).push_back('\n');
    recording.times.push_back(said->at_ms);
  }
}

inline int signal_number(std::string_view name) {
  static const std::map<std::string_view, int> kNumbers{{"SIGKILL", SIGKILL}, {"SIGTERM", SIGTERM}, {"SIGINT", SIGINT}};
  auto found = kNumbers.find(name);
  EXPECT_NE(found, kNumbers.end()) << name;
  return found == kNumbers.end() ? 0 : found->second;
}

// recordings/FILE of a folder.
inline Recording read_recording(std::string_view folder, const std::filesystem::path& file) {
  Recording recording;
  recording.name = file.stem().string();
  recording.extension = file.extension().string();
  std::string bytes = read_file(golden_folder(folder) / "recordings" / file);
  if (bytes.starts_with(R"({"dir":)")) {
    split_directions(recording, bytes);
  } else {
    recording.out = bytes;
  }
  for (const auto& line : lines_of(read_file(golden_folder(folder) / "INDEX.jsonl"))) {
    auto entry = parse_tree(line).value();
    if (entry.at("capture").as_string() != std::string_view(recording.name)) continue;
    if (entry.at("exit_code").is_number()) recording.exit.code = entry.at("exit_code").to_number<int>();
    if (entry.at("signal").is_string()) recording.exit.signal = signal_number(entry.at("signal").as_string());
    recording.errors = entry.at("stderr").as_string();
  }
  return recording;
}

inline std::vector<Recording> read_recordings(std::string_view folder) {
  std::map<std::string, Recording> sorted;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder(folder) / "recordings")) {
    Recording recording = read_recording(folder, entry.path().filename());
    sorted.emplace(recording.name, std::move(recording));
  }
  std::vector<Recording> all;
  for (auto& [name, recording] : sorted) all.push_back(std::move(recording));
  return all;
}

// Everything a driver makes of a recording.
struct Translation {
  Actions out;
  Verdict verdict;
  Hints hints;
};

// `driver` was launched. The recording's errors come last, then its end.
inline Translation translate_with(Driver& driver, const Recording& recording, std::string_view bytes) {
  Translation result;
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

// For tests that choose at random: SHEPHERD_SEED repeats the choices of a failed run.
inline std::uint64_t test_seed() {
  const char* given = std::getenv("SHEPHERD_SEED");
  std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("SHEPHERD_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

}  // namespace shepherd
