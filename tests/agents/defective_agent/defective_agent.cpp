// A streaming agent with one deliberate defect, for the tests of the harness.
//
//   defective_agent ADDRESS [--typed] [DEFECT]   without a defect it does everything right; stream.cpp knows the names
//
// With --typed it speaks the typed dialect alone.
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "stream.h"

namespace {

class Service final
    : public gibson::agent::AgentService::WithRawCallbackMethod_StreamExecute<gibson::agent::AgentService::Service> {
 public:
  Service(std::string defect, bool typed) : defect_(std::move(defect)), typed_(typed) {}
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamExecute(
      grpc::CallbackServerContext* /*context*/) override {
    return new defective::Stream(defect_, typed_);
  }

 private:
  const std::string defect_;
  const bool typed_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: defective_agent ADDRESS [--typed] [DEFECT]\n");
    return 2;
  }
  bool typed = argc > 2 && std::string_view(argv[2]) == "--typed";
  int named = typed ? 3 : 2;
  std::string defect = argc > named ? argv[named] : "";
  sigset_t end_signals;
  sigemptyset(&end_signals);
  sigaddset(&end_signals, SIGTERM);
  sigaddset(&end_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &end_signals, nullptr);

  grpc::EnableDefaultHealthCheckService(defect != "no_health");
  if (defect != "no_reflection") grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  Service service(defect, typed);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(argv[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  if (!server) return 1;
  int number = 0;
  sigwait(&end_signals, &number);
  defective::shutting_down = true;
  if (defect == "does_not_end") pause();
  // First the streams: a connection that closes with something unread in it loses what was said last.
  while (int open = defective::open_streams) defective::open_streams.wait(open);
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  return 0;
}
