// Delivers hook calls to the server as its own producer. It uses a token created for this purpose and kept in its own
// file (hook.token, mode 0600), because hooks run inside arbitrary projects.
// Threads: caller.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/live_client.h"
#include "hooks/hook_spool.h"
#include "net/client.h"

namespace shepherd {

// Prepares a call for the spool: adds when it happened and, for a sub-agent, the call that started it, which the
// agent's files beside its transcript name. A call over kMaxHookBytes loses its tool's input and output.
// invalid_argument if it is not a JSON object.
Result<std::string> prepare_hook_call(std::string_view payload, std::int64_t now_ms);

// The source and destination of hook calls: the data directory with spool and token, and the server.
struct HookRoute {
  std::string data;
  Locate locate;
  net::ClientTls tls = {};
  HookSpool::For whom = HookSpool::For::own_server;
};
// A route to the server of this data directory; ignores the environment.
HookRoute own_hook_route(std::string data);

// Delivers all waiting calls and returns their number. Calls that the server rejects as invalid are dropped, so that
// they do not block the others. Any other error, and a stop (unavailable/stopped), keeps the rest for a later attempt.
Result<std::uint64_t> deliver_hook_calls(const HookRoute& route, const std::stop_token& stop = {});

}  // namespace shepherd
