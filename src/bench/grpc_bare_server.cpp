#include "bench/grpc_bare_server.h"

#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <charconv>
#include <memory>

namespace shepherd::bench {
namespace {

class Repeat final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Repeat(std::uint64_t count) : left_(count) { StartRead(&message_); }

  void OnReadDone(bool ok) override { ok ? write_next() : Finish(grpc::Status::CANCELLED); }
  void OnWriteDone(bool ok) override { ok ? write_next() : Finish(grpc::Status::CANCELLED); }
  void OnDone() override { delete this; }

 private:
  void write_next() {
    if (left_ == 0) return Finish(grpc::Status::OK);
    --left_;
    // Like Shepherd: a write that another one follows immediately may be buffered; the first write carries the headers.
    grpc::WriteOptions options;
    if (begun_ && left_ > 0) options.set_buffer_hint();
    begun_ = true;
    StartWrite(&message_, options);
  }

  grpc::ByteBuffer message_;
  std::uint64_t left_;
  bool begun_ = false;
};

class RepeatService final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    std::uint64_t count = 0;
    auto given = context->client_metadata().find("count");
    if (given != context->client_metadata().end()) {
      std::from_chars(given->second.data(), given->second.data() + given->second.size(), count);
    }
    return new Repeat(count);  // deletes itself
  }
};

}  // namespace

void run_bare_grpc_server(std::uint16_t port) {
  RepeatService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(fmt::format("127.0.0.1:{}", port), grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server != nullptr) server->Wait();
}

}  // namespace shepherd::bench
