// The two dialects of the protocol on the wire. The rest of the library knows the messages of the JSON dialect alone.
//
// The caller's first message shows which dialect it speaks; its stream is answered in the same one.
// Threads: value.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <string>

#include "gibson/agent.pb.h"

namespace shepherd::agent {

enum class Dialect { json, typed };

// Reads the first message; a typed task becomes task_json. Returns nothing if it is a message of neither dialect.
std::optional<Dialect> read_first(const grpc::ByteBuffer& bytes, gibson::agent::ClientMessage& message);
// Reads a later message, which is the same in both dialects but for a second start.
bool read_later(const grpc::ByteBuffer& bytes, gibson::agent::ClientMessage& message);

grpc::ByteBuffer written(const gibson::agent::AgentMessage& message, Dialect dialect);

}  // namespace shepherd::agent
