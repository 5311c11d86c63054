#include "bench/grpc_read.h"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>

#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

// Waits for the one pending operation; false if it failed.
bool wait(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool good = false;
  return queue.Next(&tag, &good) && good;
}

}  // namespace

Result<GrpcRead> read_grpc_stream(const GrpcStream& stream, const std::function<bool(std::string_view)>& use) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // its own connection
  auto channel = grpc::CreateCustomChannel(stream.address, grpc::InsecureChannelCredentials(), arguments);
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  for (const auto& [key, value] : stream.metadata) context.AddMetadata(key, value);
  grpc::CompletionQueue queue;
  std::uint64_t start_ns = steady_ns();
  auto call = stub.PrepareCall(&context, stream.method, &queue);
  call->StartCall(nullptr);
  bool good = wait(queue);
  if (good) {
    grpc::Slice slice(stream.request);
    call->WriteLast(grpc::ByteBuffer(&slice, 1), {}, nullptr);
    good = wait(queue);
  }
  GrpcRead read;
  bool enough = false;
  while (good && !enough) {
    grpc::ByteBuffer message;
    call->Read(&message, nullptr);
    if (!wait(queue)) break;
    grpc::Slice slice;
    if (!message.DumpToSingleSlice(&slice).ok()) break;
    enough = !use({reinterpret_cast<const char*>(slice.begin()), slice.size()});
    ++read.messages;
  }
  if (enough) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait(queue);
  read.seconds = static_cast<double>(steady_ns() - start_ns) / static_cast<double>(kNsPerSecond);
  queue.Shutdown();
  if (!status.ok() && !enough) {
    return fail(ErrorCode::unavailable, "stream_failed",
                fmt::format("{} ended with status {}: {}", stream.method, static_cast<int>(status.error_code()),
                            status.error_message()));
  }
  return read;
}

}  // namespace shepherd::bench
