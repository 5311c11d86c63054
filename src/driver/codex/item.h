// One step of Codex as its three dialects say it: the app server (commandExecution, aggregatedOutput), `exec --json`
// (command_execution, aggregated_output) and the session files (CommandExecution, aggregated_output).
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/slices.h"

namespace shepherd {

struct CodexItem {
  enum class Kind : std::uint8_t {
    other,  // a kind that this version does not know
    user_message,
    agent_message,
    reasoning,
    plan,        // its text
    to_do,       // its list, as `exec` tells it
    call,        // something that is started and has a result
    compaction,  // the conversation was shortened
    warning,
  };
  enum class State : std::uint8_t { running, done, failed, declined };

  Kind kind = Kind::other;
  std::string type;  // the agent's own word
  std::string id;
  std::string client_id;  // of a user message: the id its sender gave it
  std::string text;       // of messages; of a list, one line for each step

  // Of a call:
  std::string tool;   // as Shepherd's pages name it: Bash, Edit, Write, WebSearch, mcp__server__name, …
  std::string input;  // a compact object
  std::string output;
  State state = State::running;
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> duration_ms;
  std::int64_t started_ms = 0, completed_ms = 0;  // 0: not said
};

CodexItem read_codex_item(const JsonSlices& record, const JsonNode& node);

// Whether an item has to be looked into under this key; for JsonSlices::parse().
bool codex_item_looks_into(std::string_view key, std::string_view parent);

// What a call does, as one line for people. Paths inside `cwd` are shown without it.
std::string codex_call_summary(std::string_view tool, std::string_view input, std::string_view cwd);

// The command inside `/bin/bash -lc '…'`; the command itself when it is not exactly that.
std::string inner_command(std::string_view command);

// "commandExecution", "command_execution" and "CommandExecution" as one word: commandexecution.
std::string plain_word(std::string_view word);
// "internalServerError" as internal_server_error.
std::string snake_word(std::string_view word);

}  // namespace shepherd
