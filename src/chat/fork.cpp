#include "chat/fork.h"

#include <utility>

#include "chat/context_plan.h"

namespace shepherd {

std::string forked_line(const std::string& from) {
  return "forked from " + from;
}

std::vector<ChatEvent> forked_events(const Conversation& talk, std::uint64_t through, SessionFacts facts,
                                     const std::string& from) {
  if (talk.started()) {
    facts.system = talk.system();
    facts.system_tokens = talk.system_tokens();
  } else if (!facts.system.empty()) {
    facts.system_tokens = estimated_tokens(facts.system);
  }
  std::vector<ChatEvent> events;
  events.push_back(session_start_event(facts));
  // A prompt without its answer, or a tool's call without its result, would be an open turn.
  std::size_t whole = 0;
  for (std::size_t at = 0; at < talk.messages().size(); ++at) {
    const ChatMessage& each = talk.messages()[at];
    if (through != 0 && each.sequence > through) break;
    if (each.message.role == Role::assistant && each.message.tool_calls.empty()) whole = at + 1;
  }
  bool all = whole == talk.messages().size();
  for (std::size_t at = 0; at < whole; ++at) {
    const ChatMessage& each = talk.messages()[at];
    MessageFacts message;
    message.tokens = each.tokens;
    message.exact = each.exact;
    message.final = each.message.role == Role::assistant && each.message.tool_calls.empty();
    if (at + 1 == whole) {
      // The total is known of the whole conversation only; of a part it is the sum, which lacks what joins messages.
      message.exact = all && talk.exact();
      if (all) message.total_tokens = talk.total_tokens();
    }
    events.push_back(message_event(each.message, message));
  }
  events.push_back(state_event(State::paused, forked_line(from)));
  return events;
}

}  // namespace shepherd
