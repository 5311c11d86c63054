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

struct AgentServer::Parts {
  Parts(ServerOptions given, Work work) : options(std::move(given)), streams(options, std::move(work)) {
    static std::once_flag plugins;
    std::call_once(plugins, [] {
      grpc::EnableDefaultHealthCheckService(true);
      grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    });
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options.address, credentials(options), &port);
    // With port reuse, two agents on one port would each silently get half of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
    if (!server) throw std::runtime_error("cannot listen on " + options.address + why());
    if (!options.metrics_address.empty()) {
      metrics_endpoint.emplace(options.metrics_address, [this] { return metrics.prometheus_text(); });
    }
    health(true);
  }
  ~Parts() { shutdown(); }

  // Guesses the usual reasons, because gRPC writes them only to standard error.
  std::string why() const {
    bool tls = !options.certificate_file.empty();
    return std::string(": is the address right and free") +
           (tls ? ", and do certificate and key belong together?" : "?");
  }

  void health(bool serving) {
    auto* service_health = server->GetHealthCheckService();
    service_health->SetServingStatus(serving);
    service_health->SetServingStatus("gibson.agent.AgentService", serving);
  }

  bool shutdown() {
    std::lock_guard lock(shutting);
    if (!server) return idle;
    auto deadline = std::chrono::steady_clock::now() + options.shutdown_deadline;
    health(false);
    streams.stop_all();
    idle = streams.wait_until_idle(deadline);
    server->Shutdown(std::chrono::system_clock::now() + (idle ? kFarewell : std::chrono::milliseconds(0)));
    server.reset();
    return idle;
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
  parts_ = std::make_unique<Parts>(std::move(options), std::move(work));
}
AgentServer::~AgentServer() = default;

int AgentServer::port() const {
  return parts_->port > 1 ? parts_->port : 0;
}
int AgentServer::metrics_port() const {
  return parts_->metrics_endpoint ? parts_->metrics_endpoint->port() : 0;
}
const Metrics& AgentServer::metrics() const {
  return parts_->metrics;
}
bool AgentServer::shutdown() {
  return parts_->shutdown();
}

}  // namespace shepherd::agent
