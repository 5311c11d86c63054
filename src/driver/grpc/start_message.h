// The first message to a streaming agent: its task, in either dialect.
// Threads: value.
#pragma once

#include <string>

#include "driver/driver.h"
#include "driver/grpc/dialect.h"

namespace shepherd {

// Serialized. An agent of the other dialect can never read it as a task of its own.
std::string start_message(const Launch& launch, GrpcDialect dialect);

}  // namespace shepherd
