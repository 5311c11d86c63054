// Recordings of Claude Code, and running them through its driver.
// Threads: caller.
#pragma once

#include "driver/claude/claude_code.h"
#include "driver/test_recording.h"

namespace shepherd {

struct ClaudeRecording : Recording {
  OutputFormat format = OutputFormat::stream;
};

inline ClaudeRecording as_claude(Recording recording) {
  OutputFormat format = OutputFormat::stream;
  if (recording.extension == ".json") format = OutputFormat::batch;
  if (recording.extension == ".txt") format = OutputFormat::text;
  if (recording.both_directions()) format = OutputFormat::bidirectional;
  return {std::move(recording), format};
}

inline ClaudeRecording claude_recording(std::string_view file) {
  return as_claude(read_recording("claude", file));
}

inline std::vector<ClaudeRecording> claude_recordings() {
  std::vector<ClaudeRecording> all;
  for (auto& recording : read_recordings("claude")) all.push_back(as_claude(std::move(recording)));
  return all;
}

inline Launch launch_as(OutputFormat format) {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.options.emplace(kOutputFormatOption, name(format));
  return launch;
}

inline Translation translate(const ClaudeRecording& recording, std::string_view bytes) {
  ClaudeCode driver;
  EXPECT_TRUE(driver.launch(launch_as(recording.format)).has_value());
  return translate_with(driver, recording, bytes);
}

}  // namespace shepherd
