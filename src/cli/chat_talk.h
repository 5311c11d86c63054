// A conversation at a terminal: a person types, the answer streams, tools ask.
// Threads: caller.
#pragma once

#include "base/result.h"
#include "cli/chat_options.h"
#include "cli/context.h"

namespace shepherd {

// Until the person leaves; with a prompt, until its answer is complete. Ctrl-C cancels the turn that runs, not the
// program. The connection is made again when it fails; nothing is missed on a server that numbers its events.
// ok; with a prompt also task_cancelled or failed. Errors: the server cannot be reached or refuses at the start.
Result<ExitCode> talk_chat(Context& context, const ChatOptions& options);

}  // namespace shepherd
