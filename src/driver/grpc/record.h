// Messages of streaming agents as records: read from the wire or from a recording, written as JSON.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace gibson::agent {
class AgentMessage;
}

namespace shepherd {

// A serialized message or, when it begins with "{", its JSON form. False: it is neither, or its text is not UTF-8.
bool read_agent_message(std::string_view record, gibson::agent::AgentMessage& message);

// The JSON form, compact, with the names of the protocol file; what is not set is left out.
std::string agent_message_json(const gibson::agent::AgentMessage& message);

// What cannot be read is told in the log of its task, not on our standard error.
void mute_protocol_buffers();

// A text that should be JSON as a compact JSON object: itself, or {"value":…} around another value, or {"text":…}
// around what is no JSON. Empty for an empty text.
std::string as_json_object(std::string_view text);

}  // namespace shepherd
