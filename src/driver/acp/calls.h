// The tool calls of an agent, put together from what it says of them bit by bit: every update has only what changed.
// Threads: value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/event_json.h"
#include "json/slices.h"

namespace shepherd {

struct AcpCall {
  std::string agent_id;  // the agent's own
  std::string id;        // the same, unless the agent has used it for an earlier call
  std::string name, kind, title, status;
  std::string input;      // compact JSON object; empty: not known yet
  std::string output;     // the agent's raw output, compact JSON
  std::string content;    // array of what the call shows
  std::string locations;  // array of the files it is about
  std::string told_input;
  std::int64_t started_ms = 0;  // when it was made, or when it was allowed or denied
  std::int64_t changed_ms = 0;
  bool told = false;    // there is a tool_call event
  bool denied = false;  // by an operator or the driver

  bool ended() const { return status == "completed" || status == "failed"; }
  bool has_input() const { return input.size() > 2; }
  std::string tool() const;  // for the event: its name, or its kind
};

class AcpCalls {
 public:
  // Takes in what `node` (a tool_call, a tool_call_update or the toolCall of a request) says. nullptr when it has no
  // id, or is only a late word on a call that has ended. Valid until the next call of a method that changes anything.
  AcpCall* merge(const JsonSlices& record, const JsonNode& node, bool first_word, std::int64_t now_ms);
  AcpCall* find(std::string_view agent_id);
  AcpCall take(std::string_view agent_id);  // it has ended; it is there
  bool full() const;
  const std::vector<AcpCall>& open() const { return open_; }
  std::vector<AcpCall>& open() { return open_; }

 private:
  std::string unused(std::string_view agent_id) const;

  std::vector<AcpCall> open_;  // oldest first
  std::set<std::string, std::less<>> used_;
  std::deque<std::string> order_;  // of used_
};

// "Running go test", "Reading src/auth.go": paths inside `cwd` are shown relative to it, invisible characters written
// out.
std::string acp_call_summary(const AcpCall& call, std::string_view cwd);
// What a person is told before they allow it, besides the input: what the agent shows of it.
std::string acp_shown_text(const AcpCall& call);
// Its input. Some agents show what they are about to do and keep the input to themselves: that is it, then.
std::string acp_call_input(const AcpCall& call);
// What it came to.
std::string acp_result_text(const AcpCall& call, std::string_view cwd);
// The text without the fence of a code block around it.
std::string_view without_fence(std::string_view text);
// The text as one line for people: marks that a program put on lines of their own are left out.
std::string acp_summary(std::string_view text);
// The members of the event's data, and of its detail: places, changes of files, terminals.
std::string acp_call_data(const AcpCall& call);
std::string acp_diffs(const AcpCall& call);  // array; empty: none

}  // namespace shepherd
