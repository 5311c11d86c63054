// Lines of JSON-RPC 2.0 for an agent's standard input, each with its newline. Ids are JSON: those of the agent's
// requests are given back as they came. `params` and `result` are compact JSON.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

// What an error answer says by number.
inline constexpr std::int64_t kRpcNoMethod = -32601, kRpcBadParameters = -32602, kRpcInternal = -32603;
inline constexpr std::int64_t kRpcCancelled = -32800, kRpcLoginRequired = -32000, kRpcNotFound = -32002;

std::string rpc_request(std::uint64_t id, std::string_view method, std::string_view params);
std::string rpc_notification(std::string_view method, std::string_view params);
std::string rpc_result(std::string_view id, std::string_view result);
std::string rpc_error(std::string_view id, std::int64_t code, std::string_view message);

}  // namespace shepherd
