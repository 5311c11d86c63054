// The gRPC channel behind AgentChannel, for sources that include grpc++ anyway. Threads: any.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>

#include "driver/grpc/dialect.h"

namespace shepherd::harness {

class AgentChannel {
 public:
  std::shared_ptr<grpc::Channel> channel;
  GrpcDialect dialect = GrpcDialect::json;
  std::string token;
  std::map<std::string, std::string> metadata;

  void prepare(grpc::ClientContext& context) const {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    for (const auto& [name, value] : metadata) context.AddMetadata(name, value);
  }
};

}  // namespace shepherd::harness
