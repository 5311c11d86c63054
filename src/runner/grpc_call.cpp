#include "runner/grpc_call.h"

#include <grpcpp/support/slice.h>

#include <utility>

#include "driver/grpc/record_frames.h"
#include "process/limits.h"

namespace shepherd {
namespace {

grpc::ByteBuffer buffer_of(const std::string& message) {
  grpc::Slice slice(message);
  return {&slice, 1};
}

// Reads the bytes of a message into `out` and replaces its content.
bool read_into(std::string& out, const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return false;
  out.clear();
  for (const grpc::Slice& slice : slices) out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return true;
}

}  // namespace

GrpcCall::GrpcCall(const GrpcTarget& target, AgentObserver& listener, const Clock& clock)
    : listener_(listener), clock_(clock), method_(target.method), last_output_ms_(clock.steady_ms()) {
  for (const auto& [name, value] : target.metadata) context_.AddMetadata(name, value);
}

void GrpcCall::start(std::shared_ptr<grpc::Channel> channel) {
  MutexLock lock(mutex_);
  stub_ = std::make_unique<grpc::GenericStub>(std::move(channel));
  stub_->PrepareBidiStreamingCall(&context_, method_, {}, this);
  AddHold();  // for writes from any thread; released when reading ends
  StartRead(&incoming_);
  StartCall();
  started_ = true;
  pump();
}

Result<void> GrpcCall::write(std::string_view bytes) {
  MutexLock lock(mutex_);
  if (closing_ || over_) return fail(ErrorCode::gone, "stdin_closed", "the agent takes no more messages");
  if (queued_bytes_ + bytes.size() > kMaxStdinBytes) {
    return fail(ErrorCode::rate_limited, "stdin_full", "the agent does not read its messages; try again later");
  }
  while (auto message = take_frame(bytes)) {
    queue_.emplace_back(*message);
    queued_bytes_ += message->size();
  }
  pump();
  return {};
}

void GrpcCall::close_input() {
  MutexLock lock(mutex_);
  closing_ = true;
  pump();
}

void GrpcCall::cancel() {
  MutexLock lock(mutex_);
  closing_ = true;
  if (started_ && !status_) context_.TryCancel();
}

// Sends the next message, or closes our side.
void GrpcCall::pump() {
  if (!started_ || over_ || writing_ || half_closed_) return;
  if (!queue_.empty()) {
    writing_ = true;
    outgoing_ = buffer_of(queue_.front());
    StartWrite(&outgoing_);
  } else if (closing_) {
    half_closed_ = true;
    StartWritesDone();
  }
}

void GrpcCall::OnReadDone(bool ok) {
  if (ok) {
    last_output_ms_ = clock_.steady_ms();
    if (read_into(record_, incoming_)) listener_.on_record(record_);
    return StartRead(&incoming_);
  }
  MutexLock lock(mutex_);
  over_ = true;
  RemoveHold();
}

void GrpcCall::OnWriteDone(bool ok) {
  MutexLock lock(mutex_);
  writing_ = false;
  queued_bytes_ -= queue_.front().size();
  queue_.pop_front();
  if (ok) pump();  // otherwise the call is over, and reading reports it
}

void GrpcCall::OnDone(const grpc::Status& status) {
  MutexLock lock(mutex_);
  over_ = true;
  status_ = status;
  changed_.notify_all();
}

void GrpcCall::wait(std::chrono::milliseconds time) {
  std::int64_t deadline_ms = clock_.steady_ms() + time.count();
  MutexLock lock(mutex_);
  while (!status_ && !woken_) {
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (left_ms <= 0) break;
    changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  woken_ = false;
}

void GrpcCall::wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

std::optional<grpc::Status> GrpcCall::ended() const {
  MutexLock lock(mutex_);
  return status_;
}

}  // namespace shepherd
