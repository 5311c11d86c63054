// Everything one stream showed, and what was sent to it: what the rules look at.
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
  std::int64_t wall_ms = 0;  // the harness's clock
};

struct StreamEnd {
  int code = 0;  // gRPC status
  std::string text;
};

struct Transcript {
  std::string scenario;               // "a whole run"
  std::string sent_trace_id;          // of the traceparent; empty: none was sent
  std::vector<std::string> steering;  // ids that were sent
  std::vector<SeenMessage> seen;
  std::optional<StreamEnd> end;
  bool is_whole = false;  // the agent was to bring it to its own end
};

bool is_terminal(gibson::agent::AgentStatus status);
// Output, tool calls and results, findings: what an interrupted agent does not do.
bool is_work(const gibson::agent::AgentMessage& message);
// "tool_call", "status COMPLETED"
std::string kind_of(const gibson::agent::AgentMessage& message);
std::string status_word(gibson::agent::AgentStatus status);  // "RUNNING"
std::string grpc_code_word(int code);                        // "INVALID_ARGUMENT"
// The connection broke, as it does when its agent ends: what was said last may be lost with it.
bool is_broken(const Transcript& transcript);

}  // namespace shepherd::harness
