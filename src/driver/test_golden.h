// A translation as lines of text, and its comparison with tests/golden/FOLDER/expected.
// Threads: caller.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "driver/event_json.h"
#include "driver/test_recording.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {

// Names of the members of a detail.
inline std::string detail_names(std::string_view detail) {
  std::string names = "[";
  JsonMembers members(detail);
  while (members.next()) names.append(names.size() > 1 ? "," : "").append("\"").append(members.key()).append("\"");
  return names + "]";
}

inline std::string text_line(std::string_view key, std::string_view text) {
  std::string line = object_text([&](JsonObject& object) { object.text(key, text); });
  return line;
}

// One line per event, delta, word to the agent and command; the last one is the verdict.
inline std::string golden_lines(const Translation& translation) {
  std::string lines;
  for (const auto& sent : translation.out.events()) {
    DriverEvent event = as_kept(sent);
    std::string line = event.json;
    line.pop_back();
    if (!event.detail.empty()) line.append(",\"detail\":").append(detail_names(event.detail));
    lines.append(line).append("}\n");
  }
  for (const auto& delta : translation.out.deltas()) {
    std::string line = object_text([&](JsonObject& object) {
      object.text("delta", delta.block);
      object.text("text", delta.text);
    });
    lines.append(line).push_back('\n');
  }
  for (const auto& line : lines_of(translation.out.written())) lines.append(text_line("toAgent", line)).push_back('\n');
  for (const auto& update : translation.out.commands()) {
    lines.append(encode_command_result(update.id, update.state, update.reason)).push_back('\n');
  }
  std::string last = object_text([&](JsonObject& object) {
    object.text("verdict", name(translation.verdict.state));
    object.text("message", translation.verdict.message);
    if (const auto& retry = translation.verdict.retry) object.text("retryWith", retry->options.at("output_format"));
    object.text("session", translation.hints.session_id);
    if (translation.hints.cost_usd) object.number("costUSD", *translation.hints.cost_usd);
    object.number("turns", std::uint64_t{translation.hints.turns});
    object.number("records", translation.hints.records);
    object.number("passedOver", translation.hints.passed_over);
  });
  return lines + last + "\n";
}

// SHEPHERD_UPDATE_GOLDEN=1 writes the file instead.
inline void expect_golden(std::string_view folder, const std::string& recording, const std::string& found) {
  const char* asked = std::getenv("SHEPHERD_UPDATE_GOLDEN");
  auto path = golden_folder(folder) / "expected" / (recording + ".ndjson");
  if (asked != nullptr && std::string_view(asked) == "1") {
    std::ofstream(path, std::ios::binary) << found;
    return;
  }
  EXPECT_EQ(found, read_file(path)) << "see tests/golden/" << folder << "/README.md for how to update";
}

}  // namespace shepherd
