// Messages of the typed dialect from and to those of the JSON dialect.
// Threads: value.
#pragma once

#include <string>

#include "gibson/agent.pb.h"
#include "gibson/typed_agent.pb.h"

namespace shepherd::agent {

// A typed task as the text of a task in JSON, with the members that callers of the JSON dialect send.
std::string task_json_of(const gibson::typed_agent::Task& task);

// Text that should be JSON and is none becomes a text value. Members of a finding that the typed dialect does not have
// become a piece of evidence, and the code of an error that it does not know becomes INTERNAL and begins the message.
gibson::typed_agent::AgentMessage typed_message(const gibson::agent::AgentMessage& message);

}  // namespace shepherd::agent
