#include "harness/agent_channel.h"

#include <grpcpp/generic/generic_stub.h>

#include "base/limits.h"
#include "driver/limits.h"
#include "harness/agent_stream.h"
#include "harness/limits.h"

namespace shepherd::harness {
namespace {

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

struct Answer {
  std::string message;  // empty: no answer in time
  grpc::Status status;
};

// Sends one request and reads one answer over a method that may stream. The messages of health and reflection are small
// enough to encode by hand.
Answer ask(AgentChannel& channel, const std::string& method, std::string_view request,
           std::chrono::milliseconds timeout) {
  grpc::GenericStub stub(channel.channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  channel.prepare(context);
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(&context, method, &queue);
  void* tag = nullptr;
  bool ok = false;
  auto step = [&] { return queue.Next(&tag, &ok) && ok; };  // one operation at a time
  grpc::Slice slice(request.data(), request.size());
  grpc::ByteBuffer message(&slice, 1), answer;
  Answer got;
  call->StartCall(nullptr);
  if (step()) {
    call->Write(message, nullptr);
    if (step()) {
      call->WritesDone(nullptr);
      step();
      call->Read(&answer, nullptr);
      if (step()) got.message = text_of(answer);
    }
  }
  if (!got.message.empty()) context.TryCancel();  // it may stream more; a failed call already has its status
  call->Finish(&got.status, nullptr);
  step();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return got;
}

}  // namespace

std::shared_ptr<AgentChannel> open_channel(const AgentTarget& target) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (target.tls) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = target.ca_pem;
    tls.pem_cert_chain = target.cert_pem;
    tls.pem_private_key = target.key_pem;
    credentials = grpc::SslCredentials(tls);
  }
  grpc::ChannelArguments arguments;
  if (!target.server_name.empty()) arguments.SetSslTargetNameOverride(target.server_name);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kMaxAgentLineBytes));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // agents' addresses are used without a proxy
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);     // one call here is one call to the agent
  // A command needs a moment until it listens, so reconnects come soon and do not back off.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, static_cast<int>(kAgentConnectLook.count()));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, static_cast<int>(kAgentConnectLook.count()));
  // Pings to an agent that is shutting down would break the connection early.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // A restarted agent gets a new connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto opened = std::make_shared<AgentChannel>();
  opened->channel = grpc::CreateCustomChannel(target.address, credentials, arguments);
  opened->dialect = target.dialect;
  opened->token = target.token;
  opened->metadata = target.metadata;
  return opened;
}

bool wait_until_ready(AgentChannel& channel, std::chrono::milliseconds timeout) {
  return channel.channel->WaitForConnected(std::chrono::system_clock::now() + timeout);
}

std::string why_not_ready(AgentChannel& channel) {
  grpc::Status status = ask(channel, "/grpc.health.v1.Health/Check", "", kAgentTooQuick).status;
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ? "" : status.error_message();
}

bool health_is_serving(AgentChannel& channel, std::chrono::milliseconds timeout) {
  // HealthCheckRequest without a service; HealthCheckResponse.status (1) = SERVING (1).
  return ask(channel, "/grpc.health.v1.Health/Check", "", timeout).message == std::string_view("\x08\x01", 2);
}

bool reflection_lists_service(AgentChannel& channel, std::chrono::milliseconds timeout) {
  // ServerReflectionRequest.list_services (7) = "*".
  constexpr std::string_view kListServices("\x3a\x01*", 3);
  for (const char* version : {"v1alpha", "v1"}) {
    std::string method = std::string("/grpc.reflection.") + version + ".ServerReflection/ServerReflectionInfo";
    std::string services = ask(channel, method, kListServices, timeout).message;
    if (services.find("gibson.agent.AgentService") != std::string::npos) return true;
  }
  return false;
}

}  // namespace shepherd::harness
