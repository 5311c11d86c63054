// Everything that one stream received and sent, as input for the rules.
// Threads: caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gibson/agent.pb.h"

namespace shepherd::harness {

struct SeenMessage {
  gibson::agent::AgentMessage message;
  std::int64_t at_ms = 0;    // since the stream was opened
  std::int64_t wall_ms = 0;  // by the harness's clock
  bool unreadable = false;   // no message of the dialect; `message` is empty
};

struct StreamEnd {
  int code = 0;  // gRPC status
  std::string text;
};

struct Transcript {
  std::string scenario;               // "a whole run"
  std::string sent_trace_id;          // from the traceparent, or empty
  std::vector<std::string> steering;  // ids that were sent
  std::vector<SeenMessage> seen;
  std::optional<StreamEnd> end;
  bool is_whole = false;  // the agent was expected to end the stream itself
};

bool is_terminal(gibson::agent::AgentStatus status);
// Output, tool calls and results, findings: messages that an interrupted agent must not send.
bool is_work(const gibson::agent::AgentMessage& message);
// "tool_call", "status COMPLETED"
std::string kind_of(const gibson::agent::AgentMessage& message);
std::string status_word(gibson::agent::AgentStatus status);  // "RUNNING"
std::string grpc_code_word(int code);                        // "INVALID_ARGUMENT"
// Whether the connection broke, as it does when its agent ends. The last messages may be lost.
bool is_broken(const Transcript& transcript);

}  // namespace shepherd::harness
