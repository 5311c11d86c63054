// What a tool has returned, for the model. Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "tools/toolbox.h"

namespace shepherd {

// The outcome of a result of tools/call: texts and embedded texts as they are, images beside them, and a line in
// brackets for what a model cannot take. Structured content counts if there is no text.
ToolOutcome outcome_of(std::string_view result);

// An outcome that begins with "Error: ".
ToolOutcome failed_tool(std::string_view why);

}  // namespace shepherd
