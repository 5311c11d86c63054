// Gives hook calls to the server: as the server's own producer, with a token made for this and kept in a file of its
// own (hook.token, mode 0600), because hooks run inside of whatever somebody works on.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/result.h"

namespace shepherd {

// A call as it came, made ready to wait: when it happened, and inside which call a sub-agent works (the agent's own
// files beside its transcript know). A call over kMaxHookBytes loses what its tool was given and gave back.
// invalid_argument when it is not a JSON object.
Result<std::string> prepare_hook_call(std::string_view payload, std::int64_t now_ms);

// Posts them. Calls that the server refuses for what they are cannot hold up the others: they are left out. Any other
// error is worth another try later.
Result<void> post_hook_calls(Context& context, const ServerOptions& server, const std::vector<std::string>& calls);

}  // namespace shepherd
