#include "harness/agent_stream.h"

#include <deque>
#include <thread>

#include "base/limits.h"
#include "base/mutex.h"
#include "gibson/agent.grpc.pb.h"
#include "harness/agent_channel.h"
#include "harness/limits.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

using Steady = std::chrono::steady_clock;

// For a flood of output the rules only need to see that the pieces are large, so output is cut to this size. Other
// messages are kept whole, up to kMaxTranscriptBytes per transcript.
constexpr std::size_t kKeptOutputBytes = 10 * kFloodBytes;

std::int64_t milliseconds(auto duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
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
  std::unique_ptr<pb::AgentService::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<pb::ClientMessage, pb::AgentMessage>> stream;
  Steady::time_point opened = Steady::now();
  std::thread reader;
  bool writes_done = false;

  Mutex mutex;
  CondVar arrived, taken;
  std::deque<SeenMessage> unread GUARDED_BY(mutex);  // while it is full nothing is read: the agent has to wait
  bool over GUARDED_BY(mutex) = false;               // the destructor runs: messages are not taken any more
  std::optional<StreamEnd> end GUARDED_BY(mutex);

  void read() {
    pb::AgentMessage message;
    while (stream->Read(&message)) {
      SeenMessage seen{.message = std::move(message),
                       .at_ms = milliseconds(Steady::now() - opened),
                       .wall_ms = milliseconds(std::chrono::system_clock::now().time_since_epoch())};
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

AgentStream::AgentStream(AgentChannel& channel, std::string scenario) : impl_(std::make_unique<Impl>()) {
  transcript_.scenario = std::move(scenario);
  transcript_.sent_trace_id = trace_id_of_now();
  impl_->stub = pb::AgentService::NewStub(channel.channel);
  channel.prepare(impl_->context);
  impl_->context.AddMetadata("traceparent", "00-" + transcript_.sent_trace_id + "-00000000000000a1-01");
  impl_->stream = impl_->stub->StreamExecute(&impl_->context);
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

void AgentStream::send(const pb::ClientMessage& message) {
  // A stream that has ended takes nothing more; its end is what the waits report.
  if (!impl_->writes_done) impl_->stream->Write(message);
}

void AgentStream::start(const std::string& task_json, pb::AgentMode mode) {
  pb::ClientMessage message;
  message.mutable_start()->set_task_json(task_json);
  message.mutable_start()->set_initial_mode(mode);
  send(message);
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
