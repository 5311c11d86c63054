#include "rpc/status_map.h"

#include <array>
#include <cstddef>

namespace shepherd {
namespace {

struct Row {
  ErrorCode code;
  grpc::StatusCode status;
};

constexpr std::array<Row, 12> kRows{{
    {ErrorCode::invalid_argument, grpc::StatusCode::INVALID_ARGUMENT},
    {ErrorCode::unauthenticated, grpc::StatusCode::UNAUTHENTICATED},
    {ErrorCode::permission_denied, grpc::StatusCode::PERMISSION_DENIED},
    {ErrorCode::not_found, grpc::StatusCode::NOT_FOUND},
    {ErrorCode::conflict, grpc::StatusCode::FAILED_PRECONDITION},
    {ErrorCode::gone, grpc::StatusCode::NOT_FOUND},
    {ErrorCode::too_large, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {ErrorCode::unsupported_media_type, grpc::StatusCode::INVALID_ARGUMENT},
    {ErrorCode::rate_limited, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {ErrorCode::unavailable, grpc::StatusCode::UNAVAILABLE},
    {ErrorCode::storage_full, grpc::StatusCode::UNAVAILABLE},
    {ErrorCode::internal, grpc::StatusCode::INTERNAL},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].code) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "a row's index is its code");

}  // namespace

grpc::Status grpc_status(grpc::CallbackServerContext& context, const Error& error) {
  if (!error.reason.empty()) context.AddTrailingMetadata("shepherd-error", error.reason);
  return {kRows[static_cast<std::size_t>(error.code)].status, error.message};
}

}  // namespace shepherd
