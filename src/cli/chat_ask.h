// One prompt and its answer, for scripts: the answer, or every event as JSON, on standard output; the rest on standard
// error.
// Threads: caller.
#pragma once

#include "base/result.h"
#include "cli/chat_options.h"
#include "cli/context.h"

namespace shepherd {

// The first Ctrl-C cancels the turn, the second ends the program. ok; task_cancelled if the turn was cancelled; failed
// if it failed. Errors: the server's refusal.
Result<ExitCode> ask_chat(Context& context, const ChatOptions& options);

}  // namespace shepherd
