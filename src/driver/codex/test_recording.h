// Recordings of Codex, and running them through its driver.
// Threads: caller.
#pragma once

#include "driver/codex/codex.h"
#include "driver/test_recording.h"

namespace shepherd {

inline Recording codex_recording(std::string_view name) {
  return read_recording("codex", std::string(name) + ".jsonl");
}

inline CodexFormat format_of(const Recording& recording) {
  return recording.both_directions() ? CodexFormat::app_server : CodexFormat::exec;
}

inline Launch codex_launch(CodexFormat format = CodexFormat::app_server) {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  launch.options.emplace(kCodexFormatOption, name(format));
  return launch;
}

inline Translation translate_codex(const Recording& recording, std::string_view bytes) {
  Codex driver;
  EXPECT_TRUE(driver.launch(codex_launch(format_of(recording))).has_value());
  return translate_with(driver, recording, bytes);
}

// The session's own files do not say how the program ended.
inline bool is_rollout(const Recording& recording) {
  return recording.name.find(".rollout") != std::string::npos;
}

}  // namespace shepherd
