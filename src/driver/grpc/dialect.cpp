#include "driver/grpc/dialect.h"

#include "driver/grpc/status.h"

namespace shepherd {

std::string_view name(GrpcDialect dialect) {
  return dialect == GrpcDialect::typed ? "typed" : "json";
}

std::optional<GrpcDialect> grpc_dialect(std::string_view name) {
  if (name == "json") return GrpcDialect::json;
  if (name == "typed") return GrpcDialect::typed;
  return std::nullopt;
}

bool may_be_unread(int grpc_status) {
  return grpc_status == kGrpcUnknown || grpc_status == kGrpcInvalidArgument || grpc_status == kGrpcInternal;
}

}  // namespace shepherd
