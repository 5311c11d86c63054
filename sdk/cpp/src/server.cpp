#include "shepherd/agent/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>

#include "metrics_endpoint.h"
#include "stream_service.h"

namespace shepherd::agent {
namespace {

// Cutting a connection that has unread data loses the last messages, so the server first asks callers to leave.
constexpr std::chrono::milliseconds kFarewell{500};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads the file here because gRPC reports an unusable file only as a failure to listen.
std::string pem_file(const std::string& path, std::string_view kind) {
  std::string text = read_file(path);
  if (text.find("-----BEGIN ") == std::string::npos || text.find(std::string(kind) + "-----") == std::string::npos) {
    throw std::runtime_error(path + " has no PEM \"" + std::string(kind) + "\"");
  }
  return text;
}

std::shared_ptr<grpc::ServerCredentials> credentials(const ServerOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    throw std::runtime_error("TLS needs both a certificate and a key");
  }
  if (options.certificate_file.empty()) {
    if (!options.client_ca_file.empty()) throw std::runtime_error("client_ca_file needs TLS: a certificate and a key");
    return grpc::InsecureServerCredentials();
  }
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back(
      {pem_file(options.key_file, "PRIVATE KEY"), pem_file(options.certificate_file, "CERTIFICATE")});
  if (!options.client_ca_file.empty()) {
    tls.pem_root_certs = pem_file(options.client_ca_file, "CERTIFICATE");
    tls.client_certificate_request = GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  return grpc::SslServerCredentials(tls);
}

void checked(const ServerOptions& options, const Work& work) {
  if (!work) throw std::runtime_error("an agent needs a work function");
  if (options.send_queue == 0 || options.max_streams == 0 || options.steering_queue == 0)
    throw std::runtime_error("a bound of 0 lets nothing through");
}

}  // namespace

struct AgentServer::Impl {
  Impl(ServerOptions given, Work work) : options(std::move(given)), streams(options, std::move(work)) {}

  // The usual reasons; gRPC has only written them to standard error.
  std::string why_not_listening() const {
    bool tls = !options.certificate_file.empty();
    return std::string(": is the address right and free") +
           (tls ? ", and do certificate and key belong together?" : "?");
  }

  void set_health(bool serving) const {
    auto* health = server->GetHealthCheckService();
    health->SetServingStatus(serving);
    health->SetServingStatus("gibson.agent.AgentService", serving);
  }

  const ServerOptions options;
  Metrics metrics;
  Streams streams;
  StreamService service{options, metrics, streams};
  int port = 0;
  std::mutex shutting;
  std::unique_ptr<grpc::Server> server;
  bool idle = true;
  std::optional<MetricsEndpoint> metrics_endpoint;  // serves the counters of the last streams after shutdown(), too
};

AgentServer::AgentServer(ServerOptions options, Work work) {
  checked(options, work);
  impl_ = std::make_unique<Impl>(std::move(options), std::move(work));
  static std::once_flag plugins;
  std::call_once(plugins, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
  const ServerOptions& given = impl_->options;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(given.address, credentials(given), &impl_->port);
  // Two agents on one port would each get half of the calls, and no error.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(&impl_->service);
  impl_->server = builder.BuildAndStart();
  if (!impl_->server) throw std::runtime_error("cannot listen on " + given.address + impl_->why_not_listening());
  if (!given.metrics_address.empty()) {
    impl_->metrics_endpoint.emplace(given.metrics_address,
                                    [&metrics = impl_->metrics] { return metrics.prometheus_text(); });
  }
  impl_->set_health(true);
}

AgentServer::~AgentServer() {
  shutdown();
}

int AgentServer::port() const {
  return impl_->port > 1 ? impl_->port : 0;
}
int AgentServer::metrics_port() const {
  return impl_->metrics_endpoint ? impl_->metrics_endpoint->port() : 0;
}
const Metrics& AgentServer::metrics() const {
  return impl_->metrics;
}

bool AgentServer::shutdown() {
  std::lock_guard lock(impl_->shutting);
  if (!impl_->server) return impl_->idle;
  auto deadline = std::chrono::steady_clock::now() + impl_->options.shutdown_deadline;
  impl_->set_health(false);
  impl_->streams.stop_all();
  impl_->idle = impl_->streams.wait_until_idle(deadline);
  impl_->server->Shutdown(std::chrono::system_clock::now() + (impl_->idle ? kFarewell : std::chrono::milliseconds(0)));
  impl_->server.reset();
  return impl_->idle;
}

}  // namespace shepherd::agent
