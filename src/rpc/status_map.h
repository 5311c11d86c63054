// Errors as gRPC statuses. The stable word for programs travels as trailing metadata `shepherd-error`.
// Threads: value.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "base/error.h"

namespace shepherd {

// Before the call is finished.
grpc::Status grpc_status(grpc::CallbackServerContext& context, const Error& error);

}  // namespace shepherd
