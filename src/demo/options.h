// The scripted agent's command line: only the flags of Claude Code that a driver passes.
//
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scripted {

struct Options {
  enum class Output : std::uint8_t { text, json, stream };

  bool version = false;
  bool verbose = false;
  bool replay = false;    // --replay-user-messages
  bool asks = false;      // --permission-prompt-tool stdio
  bool partial = false;   // --include-partial-messages
  bool messages = false;  // --input-format stream-json
  Output output = Output::text;
  std::string model = "scripted-model-1";
  std::string permission_mode = "default";
  std::string resume_session;
  std::string session_id;
  std::string prompt;
  std::vector<std::string> allowed_tools;
  std::int64_t max_turns = 0;
  double budget_usd = 0;

  std::string error;  // what the real program would print before it exits with 1
};

// `refused` lists options to reject as unknown, as an older version would.
Options parse_options(int argc, char** argv, const std::vector<std::string>& refused);

}  // namespace scripted
