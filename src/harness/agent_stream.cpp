#include "harness/agent_stream.h"

#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>

#include <deque>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "driver/grpc/record.h"
#include "driver/grpc/typed_record.h"
#include "gibson/agent.pb.h"
#include "harness/agent_channel.h"
#include "harness/limits.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

using Steady = std::chrono::steady_clock;

constexpr const char* kMethod = "/gibson.agent.AgentService/StreamExecute";  // of both dialects

// For a flood of output the rules only need to see that the pieces are large, so output is cut to this size. Other
// messages are kept whole, up to kMaxTranscriptBytes per transcript.
constexpr std::size_t kKeptOutputBytes = 10 * kFloodBytes;

std::int64_t milliseconds(auto duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string content_of(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  std::string content;
  if (!bytes.Dump(&slices).ok()) return content;
  for (const grpc::Slice& slice : slices) {
    content.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return content;
}

// Each stream has its own trace id, derived from the time. The rules only check that the agent returns it.
std::string trace_id_of_now() {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%032llx",
                static_cast<unsigned long long>(std::chrono::system_clock::now().time_since_epoch().count()));
  return digits;
}

}  // namespace

struct AgentStream::Impl {
  explicit Impl(const std::shared_ptr<grpc::Channel>& to, GrpcDialect of)
      : channel(to), method(kMethod, grpc::internal::RpcMethod::BIDI_STREAMING, channel), dialect(of) {}

  const std::shared_ptr<grpc::Channel> channel;
  const grpc::internal::RpcMethod method;
  const GrpcDialect dialect;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream;
  Steady::time_point opened = Steady::now();
  std::thread reader;
  bool writes_done = false;

  Mutex mutex;
  CondVar arrived, taken;
  std::deque<SeenMessage> unread GUARDED_BY(mutex);  // while it is full nothing is read: the agent has to wait
  bool over GUARDED_BY(mutex) = false;               // the destructor runs: messages are not taken any more
  std::optional<StreamEnd> end GUARDED_BY(mutex);

  bool parse(const grpc::ByteBuffer& bytes, pb::AgentMessage& message) const {
    std::string record = content_of(bytes), json;
    // A record that begins with "{" would be read as the JSON form, which has no place on the wire.
    if (record.starts_with('{')) return false;
    return dialect == GrpcDialect::typed ? read_typed_message(record, message, json)
                                         : read_agent_message(record, message);
  }

  void read() {
    grpc::ByteBuffer bytes;
    pb::AgentMessage message;
    while (stream->Read(&bytes)) {
      bool readable = parse(bytes, message);
      if (!readable) message.Clear();
      SeenMessage seen{.message = std::move(message),
                       .at_ms = milliseconds(Steady::now() - opened),
                       .wall_ms = milliseconds(std::chrono::system_clock::now().time_since_epoch()),
                       .unreadable = !readable};
      message.Clear();
      MutexLock lock(mutex);
      while (unread.size() >= kMaxUnreadMessages && !over) taken.wait(mutex);
      unread.push_back(std::move(seen));
      arrived.notify_all();
    }
    grpc::Status status = stream->Finish();
    MutexLock lock(mutex);
    end = StreamEnd{status.error_code(), status.error_message()};
    arrived.notify_all();
  }
};

AgentStream::AgentStream(AgentChannel& channel, std::string scenario)
    : impl_(std::make_unique<Impl>(channel.channel, channel.dialect)) {
  transcript_.scenario = std::move(scenario);
  transcript_.sent_trace_id = trace_id_of_now();
  channel.prepare(impl_->context);
  impl_->context.AddMetadata("traceparent", "00-" + transcript_.sent_trace_id + "-00000000000000a1-01");
  impl_->stream.reset(grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
      impl_->channel.get(), impl_->method, &impl_->context));
  impl_->reader = std::thread([impl = impl_.get()] { impl->read(); });
}

AgentStream::~AgentStream() {
  impl_->context.TryCancel();
  {
    MutexLock lock(impl_->mutex);
    impl_->over = true;
    impl_->taken.notify_all();
  }
  impl_->reader.join();
}

void AgentStream::send_bytes(const std::string& message) {
  grpc::Slice slice(message);
  // A stream that has ended takes nothing more; its end is what the waits report.
  if (!impl_->writes_done) impl_->stream->Write(grpc::ByteBuffer(&slice, 1));
}

void AgentStream::steer(const std::string& id, const std::string& content) {
  transcript_.steering.push_back(id);
  pb::ClientMessage message;
  message.mutable_steering()->set_id(id);
  message.mutable_steering()->set_content(content);
  (*message.mutable_steering()->mutable_metadata())["source"] = "shepherd agent test";
  send(message);
}

void AgentStream::interrupt(const std::string& reason) {
  pb::ClientMessage message;
  message.mutable_interrupt()->set_reason(reason);
  send(message);
}

void AgentStream::resume(const std::string& guidance) {
  pb::ClientMessage message;
  message.mutable_resume()->set_guidance(guidance);
  send(message);
}

void AgentStream::set_mode(pb::AgentMode mode) {
  pb::ClientMessage message;
  message.mutable_set_mode()->set_mode(mode);
  send(message);
}

void AgentStream::half_close() {
  impl_->writes_done = true;
  impl_->stream->WritesDone();
}

void AgentStream::cancel() {
  impl_->writes_done = true;
  impl_->context.TryCancel();
}

AgentStream::Wait AgentStream::wait_for(const Pattern& pattern, std::chrono::milliseconds timeout) {
  Steady::time_point deadline = Steady::now() + timeout;
  MutexLock lock(impl_->mutex);
  for (;;) {
    while (!impl_->unread.empty()) {
      SeenMessage seen = std::move(impl_->unread.front());
      impl_->unread.pop_front();
      bool fits = pattern(seen.message);
      impl_->taken.notify_all();
      keep(std::move(seen));
      if (fits) return Wait::found;
    }
    if (impl_->end) {
      transcript_.end = impl_->end;
      return Wait::ended;
    }
    std::int64_t left = milliseconds(deadline - Steady::now());
    if (left <= 0) return Wait::timed_out;
    impl_->arrived.wait_for(impl_->mutex, std::chrono::milliseconds(left));
  }
}

void AgentStream::keep(SeenMessage seen) {
  if (seen.message.output().content().size() > kKeptOutputBytes) {
    std::string* content = seen.message.mutable_output()->mutable_content();
    *content = content->substr(0, kKeptOutputBytes);  // resize() would keep the memory
  }
  std::size_t bytes = seen.message.ByteSizeLong();
  full_ = full_ || transcript_.seen.size() >= kMaxTranscriptMessages || kept_bytes_ + bytes > kMaxTranscriptBytes;
  if (full_) return;
  kept_bytes_ += bytes;
  transcript_.seen.push_back(std::move(seen));
}

AgentStream::Wait AgentStream::wait_for_status(pb::AgentStatus status, std::chrono::milliseconds timeout) {
  return wait_for(
      [status](const pb::AgentMessage& message) { return message.has_status() && message.status().status() == status; },
      timeout);
}

bool AgentStream::wait_for_end(std::chrono::milliseconds timeout) {
  return wait_for([](const pb::AgentMessage&) { return false; }, timeout) == Wait::ended;
}

}  // namespace shepherd::harness
