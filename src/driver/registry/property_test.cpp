// What holds for every driver and every recording, however its bytes come.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "driver/registry/recording_player.h"
#include "driver/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

struct Source {
  std::string_view agent;
  std::string name, bytes;
};

std::vector<Source> all_sources() {
  std::vector<Source> all;
  for (std::string_view folder : {"acp", "claude", "codex", "gemini", "opencode"}) {
    for (const auto& entry : std::filesystem::directory_iterator(golden_folder(folder) / "recordings")) {
      if (entry.path().extension() == ".jsonl") all.push_back({folder, entry.path().stem(), read_file(entry.path())});
    }
  }
  std::ranges::sort(all, {}, &Source::name);
  return all;
}

std::vector<std::string> events_of(std::string_view agent, const std::vector<std::string_view>& pieces, bool to_end) {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.command = {"recorded"};
  auto player = RecordingPlayer::open(agent, launch);
  EXPECT_TRUE(player);
  Actions out;
  LineSplitter splitter;
  auto line = [&](const Line& whole) { EXPECT_TRUE(player->line(whole.text, kRecordingStart, out)); };
  for (std::string_view piece : pieces) splitter.add(piece, line);
  splitter.finish(line);
  if (to_end) {
    EXPECT_TRUE(player->finish(kRecordingStart, out));
  }
  std::vector<std::string> events;
  for (const DriverEvent& event : out.events()) events.push_back(event.json);
  return events;
}

TEST(EveryDriver, AnySplitOfItsBytesGivesTheSameEvents) {
  std::mt19937_64 random(test_seed());
  for (const Source& source : all_sources()) {
    std::vector<std::string_view> pieces;
    for (std::string_view rest = source.bytes; !rest.empty();) {
      std::size_t size = std::min<std::size_t>(rest.size(), 1 + random() % (random() % 4 == 0 ? 5'000 : 7));
      pieces.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    EXPECT_EQ(events_of(source.agent, pieces, true), events_of(source.agent, {source.bytes}, true)) << source.name;
  }
}

// A run that is cut anywhere begins with what its complete lines give.
TEST(EveryDriver, ACutLosesNoCompleteLine) {
  std::mt19937_64 random(test_seed());
  for (const Source& source : all_sources()) {
    for (int round = 0; round < 4 && !source.bytes.empty(); ++round) {
      std::string_view cut = std::string_view(source.bytes).substr(0, random() % source.bytes.size());
      std::string_view complete = cut.substr(0, cut.rfind('\n') + 1);
      std::vector<std::string> whole = events_of(source.agent, {complete}, false);
      std::vector<std::string> more = events_of(source.agent, {cut}, false);
      ASSERT_GE(more.size(), whole.size()) << source.name << " at " << cut.size();
      more.resize(whole.size());
      EXPECT_EQ(more, whole) << source.name << " at " << cut.size();
    }
  }
}

// The call that a line is about; empty: it is about none, or about more than that.
std::string call_of(std::string_view agent, std::string_view line) {
  auto value = [&](std::string_view key) {
    std::string mark = "\"" + std::string(key) + "\":\"";
    std::size_t at = line.find(mark);
    if (at == std::string_view::npos) return std::string();
    at += mark.size();
    return std::string(line.substr(at, line.find('"', at) - at));
  };
  auto has = [&](std::string_view words) { return line.find(words) != std::string_view::npos; };
  if (agent == "acp") return has("\"session/update\"") ? value("toolCallId") : "";
  if (agent == "claude") {
    if (!has("\"parent_tool_use_id\":null") || has("\"subtype\"")) return {};
    if (has("\"type\":\"tool_result\"")) return value("tool_use_id");
    std::size_t use = line.find("\"type\":\"tool_use\",\"id\":\"");
    return use == std::string_view::npos ? "" : text_member(line.substr(use - 1), "id");
  }
  if (agent == "codex") {
    bool item = has("\"method\":\"item/started\"") || has("\"method\":\"item/completed\"");
    return item && has("\"type\":\"commandExecution\"")
               ? text_member(find_member(find_member(line, "params"), "item"), "id")
               : "";
  }
  if (agent == "gemini") return value("tool_id");
  return has("\"type\":\"tool\"") ? value("callID") : "";
}

// Calls that run beside each other: their lines may come in any order.
TEST(EveryDriver, LinesOfIndependentCallsMayComeInAnyOrder) {
  std::mt19937_64 random(test_seed());
  std::map<std::string_view, std::size_t> swaps;
  for (const Source& source : all_sources()) {
    std::vector<std::string> lines;
    for (const auto& line : lines_of(source.bytes)) {
      auto recorded = recorded_line(line);
      if (!recorded || recorded->from_agent()) lines.push_back(recorded ? recorded->text : line);
    }
    auto summaries = [&] {
      std::string bytes;
      for (const auto& line : lines) bytes += line + "\n";
      std::vector<std::string> all;
      for (const auto& event : events_of(source.agent, {bytes}, true)) {
        std::string type = text_member(event, "type");
        if (type == "tool_call" || type == "tool_result") all.push_back(type + ": " + text_member(event, "summary"));
      }
      std::ranges::sort(all);
      return all;
    };
    std::vector<std::string> before = summaries();
    for (std::size_t round = 0; round < 3 * lines.size(); ++round) {
      std::size_t at = random() % lines.size();
      if (at + 1 >= lines.size()) continue;
      std::string one = call_of(source.agent, lines[at]), other = call_of(source.agent, lines[at + 1]);
      if (one.empty() || other.empty() || one == other) continue;
      std::swap(lines[at], lines[at + 1]);
      ++swaps[source.agent];
    }
    EXPECT_EQ(summaries(), before) << source.name;
  }
  for (std::string_view agent : {"claude", "opencode"}) EXPECT_GE(swaps[agent], 1U) << agent;
}

}  // namespace
}  // namespace shepherd
