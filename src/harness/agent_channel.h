// The gRPC channel behind AgentChannel; for the sources that include grpc++ anyway. Threads: any.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

namespace shepherd::harness {

class AgentChannel {
 public:
  std::shared_ptr<grpc::Channel> channel;
  std::string token;

  void prepare(grpc::ClientContext& context) const {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }
};

}  // namespace shepherd::harness
