// The beginning of a session that goes on from the conversation of another one.
// Threads: any (stateless).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chat/chat_events.h"
#include "chat/conversation.h"

namespace shepherd {

// The whole turns of the conversation through the message with this number (0: all), behind their session_start.
// `facts` has what the new session has of its own; its system prompt is the conversation's, if that has begun.
std::vector<ChatEvent> forked_events(const Conversation& talk, std::uint64_t through, SessionFacts facts,
                                     const std::string& from);

// The status of a session that has just begun so.
std::string forked_line(const std::string& from);

}  // namespace shepherd
