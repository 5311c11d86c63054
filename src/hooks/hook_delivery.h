// Gives hook calls to the server: as the server's own producer, with a token made for this and kept in a file of its
// own (hook.token, mode 0600), because hooks run inside of whatever somebody works on.
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

// A call as it came, made ready to wait: when it happened, and inside which call a sub-agent works (the agent's own
// files beside its transcript know). A call over kMaxHookBytes loses what its tool was given and gave back.
// invalid_argument when it is not a JSON object.
Result<std::string> prepare_hook_call(std::string_view payload, std::int64_t now_ms);

// Where calls wait and go to: the data directory with spool and token, and the server.
struct HookRoute {
  std::string data;
  Locate locate;
  net::ClientTls tls = {};
  HookSpool::For whom = HookSpool::For::own_server;
};
// To the server of this data directory, whatever the environment says.
HookRoute own_hook_route(std::string data);

// Delivers all that waits there; how many calls that were. Calls that the server refuses for what they are cannot hold
// up the others: they are left out. Any other error, and a stop (unavailable/stopped), keeps the rest for another time.
Result<std::uint64_t> deliver_hook_calls(const HookRoute& route, const std::stop_token& stop = {});

}  // namespace shepherd
