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

}  // namespace

struct RpcServer::Impl {
  Impl(RpcParts parts, bool auth)
      : callers(parts.access, parts.audit, parts.clock, auth),
        streams(parts.journal, callers, parts.clock, parts.metrics),
        service(parts, callers, streams) {}

  // Of the whole server (a probe that names no service) and of the service by its name.
  void set_health(bool serving) const {
    auto* health = server->GetHealthCheckService();
    health->SetServingStatus(serving);
    health->SetServingStatus(observability::v1::ObservabilityService::service_full_name(), serving);
  }

  Callers callers;
  EventStreams streams;
  ObservabilityService service;
  std::unique_ptr<grpc::Server> server;
  std::string address;
};

Result<std::unique_ptr<RpcServer>> RpcServer::listen(RpcParts parts, const RpcConfig& config) {
  auto secure = credentials(config);
  if (!secure) return fail(secure.error());
  auto impl = std::make_unique<Impl>(std::move(parts), config.auth);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(config.address, *secure, &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on one port would share its callers
  builder.SetMaxReceiveMessageSize(kMaxRpcRequestBytes);
  builder.RegisterService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || port == 0) {
    return fail(ErrorCode::unavailable, "cannot_listen",
                "cannot listen for gRPC on " + config.address +
                    ": the port is taken or the address is not this machine's; give --grpc-listen another one");
  }
  impl->address = config.address.substr(0, config.address.rfind(':') + 1) + std::to_string(port);
  impl->set_health(true);
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RpcServer::~RpcServer() {
  impl_->set_health(false);  // first: load balancers stop sending callers here
  impl_->streams.end_all();
  impl_->server->Shutdown(std::chrono::system_clock::now() + kRpcDrain);
  impl_->server->Wait();
}

std::string RpcServer::address() const {
  return impl_->address;
}

void RpcServer::tick() {
  impl_->streams.tick();
}

}  // namespace shepherd
