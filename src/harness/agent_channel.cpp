#include "harness/agent_channel.h"

#include <grpcpp/generic/generic_stub.h>

#include "harness/agent_stream.h"

namespace shepherd::harness {
namespace {

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

// One request and one answer over a method that may stream; empty when it does not answer with a message in time. The
// messages of health and reflection are small enough to be written here by hand.
std::string ask(AgentChannel& channel, const std::string& method, std::string_view request,
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
  grpc::Status status;
  std::string text;
  call->StartCall(nullptr);
  if (step()) {
    call->Write(message, nullptr);
    if (step()) {
      call->WritesDone(nullptr);
      step();
      call->Read(&answer, nullptr);
      if (step()) text = text_of(answer);
    }
  }
  context.TryCancel();
  call->Finish(&status, nullptr);
  step();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return text;
}

}  // namespace

std::shared_ptr<AgentChannel> open_channel(const AgentTarget& target) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (target.tls) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = target.ca_pem;
    credentials = grpc::SslCredentials(tls);
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // an agent that was started again gets a new connection
  auto opened = std::make_shared<AgentChannel>();
  opened->channel = grpc::CreateCustomChannel(target.address, credentials, arguments);
  opened->token = target.token;
  return opened;
}

bool wait_until_ready(AgentChannel& channel, std::chrono::milliseconds timeout) {
  return channel.channel->WaitForConnected(std::chrono::system_clock::now() + timeout);
}

bool health_is_serving(AgentChannel& channel, std::chrono::milliseconds timeout) {
  // HealthCheckRequest without a service; HealthCheckResponse.status (1) = SERVING (1).
  return ask(channel, "/grpc.health.v1.Health/Check", "", timeout) == std::string_view("\x08\x01", 2);
}

bool reflection_lists_service(AgentChannel& channel, std::chrono::milliseconds timeout) {
  // ServerReflectionRequest.list_services (7) = "*".
  constexpr std::string_view kListServices("\x3a\x01*", 3);
  for (const char* version : {"v1alpha", "v1"}) {
    std::string method = std::string("/grpc.reflection.") + version + ".ServerReflection/ServerReflectionInfo";
    if (ask(channel, method, kListServices, timeout).find("gibson.agent.AgentService") != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace shepherd::harness
