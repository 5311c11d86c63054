// ObservabilityService: authenticates each call, reads on a worker thread, and answers.
#pragma once

#include <atomic>
#include <functional>

#include "rpc/callers.h"
#include "rpc/event_streams.h"
#include "rpc/rpc_server.h"
#include "shepherd/observability/v1/observability.grpc.pb.h"

namespace shepherd {

// StreamEvents is raw, because its messages are bytes that are encoded once for all callers.
using ObservabilityCalls = observability::v1::ObservabilityService::WithRawCallbackMethod_StreamEvents<
    observability::v1::ObservabilityService::WithCallbackMethod_GetSession<
        observability::v1::ObservabilityService::WithCallbackMethod_ListAgents<
            observability::v1::ObservabilityService::WithCallbackMethod_GetMetrics<
                observability::v1::ObservabilityService::Service>>>>;

// Threads: any.
class ObservabilityService final : public ObservabilityCalls {
 public:
  ObservabilityService(const RpcParts& parts, Callers& callers, EventStreams& streams);

  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamEvents(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* GetSession(grpc::CallbackServerContext* context,
                                       const observability::v1::GetSessionRequest* request,
                                       observability::v1::SessionDetails* answer) override;
  grpc::ServerUnaryReactor* ListAgents(grpc::CallbackServerContext* context,
                                       const observability::v1::ListAgentsRequest* request,
                                       observability::v1::AgentList* answer) override;
  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const observability::v1::GetMetricsRequest* request,
                                       observability::v1::MetricsSnapshot* answer) override;

 private:
  // Authenticates the caller, runs `work` on a worker thread and finishes the call with its result.
  grpc::ServerUnaryReactor* answer_with(grpc::CallbackServerContext& context, std::string_view method, Lane& lane,
                                        std::function<Result<void>()> work);

  RpcParts parts_;
  Callers& callers_;
  EventStreams& streams_;
  std::atomic<std::size_t> next_executor_{0};
};

}  // namespace shepherd
