// The defective agent's messages on the wire, in the dialect it was started with.
// Threads: value.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "gibson/agent.pb.h"

namespace defective {

// False: it is no message of the dialect. A typed task becomes one in JSON, "{}".
bool read(const grpc::ByteBuffer& bytes, bool typed, gibson::agent::ClientMessage& message);
grpc::ByteBuffer written(const gibson::agent::AgentMessage& message, bool typed);

}  // namespace defective
