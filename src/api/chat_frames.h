// The events of a chat session as the frames of its observers: `id: 7` / `data: {"type":"message_added","data":{…}}`.
// One event of the log can be several frames, or none.
// Threads: any (stateless).
#pragma once

#include <string>
#include <string_view>

#include "chat/conversation.h"
#include "chat/session_log.h"
#include "hub/frame_encoder.h"

namespace shepherd {

const FrameEncoder& chat_frames();

std::string chat_frame(std::string_view type, std::string_view data);
// An event that an observer missed; what the model said in it comes as live text first.
std::string replayed_event(const SessionLog::Recent& event);
// A message as /session lists it.
void append_chat_message(std::string& out, const ChatMessage& message);

inline constexpr std::string_view kChatKeepAlive = ": keepalive\n\n";
inline constexpr std::string_view kChatDone = "data: {\"done\":true}\n\n";

}  // namespace shepherd
