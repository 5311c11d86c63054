// Maps errors to gRPC statuses. The trailing metadata `shepherd-error` has the stable code for programs.
// Threads: value.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "base/error.h"

namespace shepherd {

// Call before the call is finished.
grpc::Status grpc_status(grpc::CallbackServerContext& context, const Error& error);

}  // namespace shepherd
