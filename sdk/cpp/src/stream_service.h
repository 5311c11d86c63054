// Implements StreamExecute with grpc++'s callback API. It moves messages between a call and its Conversation, in the
// dialect that the caller speaks.
// Threads: any.
#pragma once

#include <grpcpp/grpcpp.h>

#include "gibson/agent.grpc.pb.h"
#include "streams.h"

namespace shepherd::agent {

class StreamService final
    : public gibson::agent::AgentService::WithRawCallbackMethod_StreamExecute<gibson::agent::AgentService::Service> {
 public:
  StreamService(const ServerOptions& options, Metrics& metrics, Streams& streams)
      : options_(options), metrics_(metrics), streams_(streams) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamExecute(
      grpc::CallbackServerContext* context) override;

 private:
  const ServerOptions& options_;
  Metrics& metrics_;
  Streams& streams_;
};

}  // namespace shepherd::agent
