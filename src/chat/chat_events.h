// The events of a chat session, as JSON for the log. The event of a long message has its beginning; the whole is its
// detail.
// Threads: value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "llm/model.h"
#include "model/command.h"
#include "model/event_type.h"
#include "model/task.h"

namespace shepherd {

struct ChatEvent {
  EventType type = EventType::log;
  std::string json;   // the object that the events route takes
  std::string whole;  // the detail of a message that is cut in its event; otherwise empty
  // For memory alone: the images of a tool's message, and the message before redaction if that changed it.
  std::shared_ptr<const std::vector<ModelImage>> images = nullptr;
  std::shared_ptr<const ModelMessage> told = nullptr;
};

struct MessageFacts {
  std::int64_t tokens = 0;
  bool exact = false;
  std::int64_t total_tokens = -1;  // of the session with this message; -1: what it was and this
  bool final = false;              // ends the turn
  std::string finish_reason, model, by;
  ModelUsage usage;
  // Of all calls of the turn that this ends; its cost is empty if a price is not known.
  struct TurnCost {
    std::optional<double> usd;
  };
  std::optional<TurnCost> turn_cost;
};
ChatEvent message_event(const ModelMessage& message, const MessageFacts& facts);

struct SessionFacts {
  std::string model, backend, system;
  std::int64_t context_tokens = 0, system_tokens = 0;
  std::vector<std::string> tools;
  std::string session;
};
ChatEvent session_start_event(const SessionFacts& facts);

ChatEvent tool_call_event(const ToolRequest& call, std::string_view summary);
struct ToolEnd {
  bool success = false;
  std::string summary;
  std::int64_t duration_ms = 0;
  bool denied = false;  // by a person
};
ChatEvent tool_result_event(const ToolRequest& call, const ToolEnd& end);

// `state`: pending, approved, denied, expired. `rule`: what may be remembered (pending), or was; may be empty.
// `hidden`: members of the call's arguments that run with more than is shown.
ChatEvent approval_event(const ToolRequest& call, std::string_view state, std::string_view summary,
                         std::string_view message, std::string_view rule, const std::vector<std::string>& hidden = {});

enum class EvictionReason : std::uint8_t { context, cleared };
ChatEvent eviction_event(const std::vector<std::uint64_t>& messages, std::int64_t freed, std::int64_t total,
                         EvictionReason reason, bool resync);

ChatEvent usage_event(const Usage& totals, bool priced, std::string_view model, std::string_view session);
ChatEvent error_event(std::string_view code, std::string_view message, bool final);
// `members`: more members of its data, as compact JSON without braces.
ChatEvent state_event(State state, std::string_view message, std::string_view members = {});
ChatEvent settled_event(std::string_view command_id, CommandState state, std::string_view reason);
ChatEvent remark_event(std::string_view text);

// Whether a person can be shown all of these arguments in one event.
bool fits_approval(std::string_view arguments);
// A JSON object that fits as it is, anything else as {"arguments": text}.
std::string tool_input(std::string_view arguments);

}  // namespace shepherd
