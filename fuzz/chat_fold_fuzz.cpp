// Folds any events into a conversation, a line each; the first byte of a line chooses its type. The fold stays sound,
// and what the store keeps of an event folds to the same.
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "chat/context_plan.h"
#include "chat/conversation.h"
#include "model/wire_json.h"

namespace {

using namespace shepherd;

constexpr std::array kTypes{EventType::message,       EventType::eviction,    EventType::approval,
                            EventType::usage,         EventType::error,       EventType::tool_call,
                            EventType::status,        EventType::tool_result, EventType::session_start,
                            EventType::command_result};

void check(const Conversation& talk) {
  std::uint64_t last = 0;
  for (const ChatMessage& each : talk.messages()) {
    SHEPHERD_ASSERT(each.sequence > last && each.sequence <= talk.last_sequence(), "messages are in order");
    last = each.sequence;
  }
  std::size_t turn = talk.turn_begin();
  SHEPHERD_ASSERT(turn <= talk.messages().size(), "a turn begins inside");
  std::set<std::uint64_t> gone;
  for (std::uint64_t sequence : plan_eviction(talk.messages(), turn, 1'000'000).messages) {
    SHEPHERD_ASSERT(gone.insert(sequence).second, "no message goes twice");
  }
  if (turn < talk.messages().size()) {
    SHEPHERD_ASSERT(!gone.contains(talk.messages()[turn].sequence), "the current prompt stays");
  }
  SHEPHERD_ASSERT(talk.unanswered().size() <= 1'000'000, "what is open can be listed");
}

std::string as_text(const Conversation& talk) {
  std::string text;
  for (const ChatMessage& each : talk.messages()) {
    text +=
        std::to_string(each.sequence) + each.message.content + each.message.tool_call_id + std::to_string(each.tokens);
    for (const ToolRequest& call : each.message.tool_calls) text += call.id + call.name + call.arguments;
  }
  return text + std::to_string(talk.total_tokens()) + (talk.turn_open() ? "open" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Conversation raw, posted, stored;
  Intake intake;
  intake.allow_reserved = true;
  for (std::uint64_t sequence = 1; !rest.empty(); ++sequence) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    std::string json(line.substr(1));
    raw.apply(sequence, kTypes[static_cast<unsigned char>(line[0]) % kTypes.size()], json);
    auto drafts = decode_events(json, Framing::json, intake);
    if (!drafts || drafts->drafts.size() != 1) continue;
    EventType type = drafts->drafts[0].type;
    std::string event;
    append_event(event, sequence, 1, "", false, drafts->body(drafts->drafts[0]));
    posted.apply(sequence, type, "{" + std::string(drafts->body(drafts->drafts[0])) + "}");
    stored.apply(sequence, type, event);
  }
  check(raw);
  check(stored);
  SHEPHERD_ASSERT(as_text(posted) == as_text(stored), "what is stored folds to the same");
  return 0;
}
