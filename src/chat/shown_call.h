// A tool's call as the log and people have it: redaction hides parts of its arguments, and the tool gets them whole.
// Threads: any (stateless).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "llm/model.h"
#include "redact/redact.h"

namespace shepherd {

struct ShownCall {
  ToolRequest call;
  // The members of which a part is hidden, by their shown names; "arguments" if they are no object.
  std::vector<std::string> hidden;
};
// Without a redactor nothing is hidden.
ShownCall shown_call(const ToolRequest& call, const Redactor* redactor);

// The arguments to run when a person changed those that were shown: a member that is as it was shown is the model's
// own. invalid_argument/hidden_text if a changed one has a mark of redaction, because what it stands for is not known.
Result<std::string> with_changes(const std::string& arguments, const std::string& changed, const Redactor* redactor);

}  // namespace shepherd
