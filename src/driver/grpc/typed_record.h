// Messages of agents that speak the typed dialect, as the driver knows messages: those of the JSON dialect.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace gibson::agent {
class AgentMessage;
}
namespace gibson::typed_agent {
class AgentMessage;
}

namespace shepherd {

// The same message in the JSON dialect.
void translate_typed(const gibson::typed_agent::AgentMessage& typed, gibson::agent::AgentMessage& message);

// A serialized message or, when it begins with "{", its JSON form. `json` becomes its compact JSON form, with the names
// of the protocol file. False: it is neither, or its text is not UTF-8.
bool read_typed_message(std::string_view record, gibson::agent::AgentMessage& message, std::string& json);

// Whether a message in its JSON form has something that only the typed dialect has.
bool is_typed_record(std::string_view record);

}  // namespace shepherd
