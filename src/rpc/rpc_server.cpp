#include "rpc/rpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <utility>

#include "rpc/callers.h"
#include "rpc/event_streams.h"
#include "rpc/limits.h"
#include "rpc/observability_service.h"

namespace shepherd {
namespace {

Result<std::string> read_pem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return fail(ErrorCode::invalid_argument, "bad_certificate", "cannot read " + path + " for gRPC's TLS");
  }
  return text.str();
}

Result<std::shared_ptr<grpc::ServerCredentials>> credentials(const RpcConfig& config) {
  if (config.tls_cert.empty()) return grpc::InsecureServerCredentials();
  auto certificate = read_pem(config.tls_cert);
  if (!certificate) return fail(certificate.error());
  auto key = read_pem(config.tls_key);
  if (!key) return fail(key.error());
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back({*key, *certificate});
  return grpc::SslServerCredentials(options);
}

class RpcServerImpl final : public RpcServer {
 public:
  RpcServerImpl(RpcParts parts, bool auth)
      : callers_(parts.access, parts.audit, parts.clock, auth),
        streams_(parts.journal, callers_, parts.clock, parts.metrics),
        service_(parts, callers_, streams_) {}

  ~RpcServerImpl() override {
    if (server_ == nullptr) return;
    health(false);  // first, so that load balancers stop sending callers here
    streams_.end_all();
    server_->Shutdown(std::chrono::system_clock::now() + kRpcDrain);
    server_->Wait();
  }

  Result<void> start(const RpcConfig& config) {
    auto secure = credentials(config);
    if (!secure) return fail(secure.error());
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(config.address, *secure, &port);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on one port would split its callers
    builder.SetMaxReceiveMessageSize(kMaxRpcRequestBytes);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return fail(ErrorCode::unavailable, "cannot_listen",
                  "cannot listen for gRPC on " + config.address +
                      ": the port is taken or the address is not this machine's; give --grpc-listen another one");
    }
    address_ = config.address.substr(0, config.address.rfind(':') + 1) + std::to_string(port);
    health(true);
    return {};
  }

  std::string address() const override { return address_; }
  void tick() override { streams_.tick(); }

 private:
  // Sets the health of the whole server (for probes that name no service) and of the named service.
  void health(bool serving) {
    auto* told = server_->GetHealthCheckService();
    told->SetServingStatus(serving);
    told->SetServingStatus(observability::v1::ObservabilityService::service_full_name(), serving);
  }

  Callers callers_;
  EventStreams streams_;
  ObservabilityService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<RpcServer>> RpcServer::listen(RpcParts parts, const RpcConfig& config) {
  auto server = std::make_unique<RpcServerImpl>(std::move(parts), config.auth);
  if (auto started = server->start(config); !started) return fail(started.error());
  return server;
}

}  // namespace shepherd
