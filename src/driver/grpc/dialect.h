// The two dialects of streaming agents, which call the same method: the task, values and findings are JSON as text
// (gibson/agent.proto), or messages (gibson/typed_agent.proto).
//
// No call tells which one an agent speaks, so a task is offered in one and, when the agent cannot read that, in the
// other one. Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shepherd {

enum class GrpcDialect : std::uint8_t { json, typed };

std::string_view name(GrpcDialect dialect);
std::optional<GrpcDialect> grpc_dialect(std::string_view name);

// Entries of Launch::options. The only dialect that is tried; missing: both are.
inline constexpr std::string_view kDialectOption = "dialect";
// The one that is tried first; missing: json.
inline constexpr std::string_view kFirstDialectOption = "first_dialect";
// What the agent said to the other dialect, in a second start.
inline constexpr std::string_view kRefusedOption = "refused";

// Whether an agent that has said nothing may have ended its call like this because it could not read the start. What an
// agent does with such a message depends on its library: it refuses the call, or sees a stream that ends at once.
bool may_be_unread(int grpc_status);

}  // namespace shepherd
