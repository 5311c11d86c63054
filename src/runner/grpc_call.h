// The call behind a GrpcLink: gRPC's reactions on one side, a bounded queue of messages on the other.
//
// gRPC never runs a reaction inside a call into it from another thread, so its functions are called with the lock held.
// Its owner destroys it after ended(), and never on a thread of gRPC: the last channel's destructor waits for the
// threads that run reactions, and such a thread cannot wait for itself.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "runner/grpc_link.h"

namespace shepherd {

// Threads: any; the reactions are gRPC's.
class GrpcCall final : private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  GrpcCall(const GrpcTarget& target, AgentObserver& listener, const Clock& clock);
  ~GrpcCall() override = default;
  GrpcCall(const GrpcCall&) = delete;
  GrpcCall& operator=(const GrpcCall&) = delete;

  // Before it, writes only queue; after it, ended() comes for certain.
  void start(std::shared_ptr<grpc::Channel> channel) EXCLUDES(mutex_);
  // As AgentLink's.
  Result<void> write(std::string_view bytes) EXCLUDES(mutex_);
  void close_input() EXCLUDES(mutex_);
  void cancel() EXCLUDES(mutex_);

  // Waits at most `time` for the end of the call or for wake().
  void wait(std::chrono::milliseconds time) EXCLUDES(mutex_);
  void wake() EXCLUDES(mutex_);
  std::optional<grpc::Status> ended() const EXCLUDES(mutex_);
  std::int64_t last_output_ms() const { return last_output_ms_; }

 private:
  void OnReadDone(bool ok) override EXCLUDES(mutex_);
  void OnWriteDone(bool ok) override EXCLUDES(mutex_);
  void OnDone(const grpc::Status& status) override EXCLUDES(mutex_);
  void pump() REQUIRES(mutex_);

  AgentObserver& listener_;
  const Clock& clock_;
  const std::string method_;
  std::atomic<std::int64_t> last_output_ms_;

  // gRPC's, while the call runs.
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_, outgoing_;
  std::string record_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<std::string> queue_ GUARDED_BY(mutex_);
  std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;  // with the one that is being written
  bool started_ GUARDED_BY(mutex_) = false;
  bool writing_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;      // write() takes nothing more
  bool half_closed_ GUARDED_BY(mutex_) = false;  // the agent knows that nothing more comes
  bool over_ GUARDED_BY(mutex_) = false;         // nothing can be written or read any more
  bool woken_ GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> status_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
