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
// messages are kept whole, up to this total per transcript.
constexpr std::size_t kKeptOutputBytes = 10 * kFloodBytes;
constexpr std::size_t kMaxTranscriptBytes = kMaxTranscriptMessages * kKiB;
constexpr std::size_t kMaxUnread = kFloodMessages * 10;  // received messages that the harness has not processed yet

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

struct AgentStream::Call {
  std::unique_ptr<pb::AgentService::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<pb::ClientMessage, pb::AgentMessage>> stream;
  Steady::time_point opened = Steady::now();
  std::thread reader;
  bool writes_done = false;

  Mutex mutex;
  CondVar arrived, taken;
  std::deque<SeenMessage> unread GUARDED_BY(mutex);  // while it is full nothing is read, so the agent has to wait
  bool over GUARDED_BY(mutex) = false;               // no more messages are taken
  std::optional<StreamEnd> end GUARDED_BY(mutex);

  void read() {
    pb::AgentMessage message;
    while (stream->Read(&message)) {
      SeenMessage seen{.message = std::move(message),
                       .at_ms = milliseconds(Steady::now() - opened),
                       .wall_ms = milliseconds(std::chrono::system_clock::now().time_since_epoch())};
      message.Clear();
      MutexLock lock(mutex);
      while (unread.size() >= kMaxUnread && !over) taken.wait(mutex);
      unread.push_back(std::move(seen));
      arrived.notify_all();
    }
    grpc::Status status = stream->Finish();
    MutexLock lock(mutex);
    end = StreamEnd{status.error_code(), status.error_message()};
    arrived.notify_all();
  }
};

AgentStream::AgentStream(AgentChannel& channel, std::string scenario) : call_(std::make_unique<Call>()) {
  transcript_.scenario = std::move(scenario);
  transcript_.sent_trace_id = trace_id_of_now();
  call_->stub = pb::AgentService::NewStub(channel.channel);
  channel.prepare(call_->context);
  call_->context.AddMetadata("traceparent", "00-" + transcript_.sent_trace_id + "-00000000000000a1-01");
  call_->stream = call_->stub->StreamExecute(&call_->context);
  call_->reader = std::thread([call = call_.get()] { call->read(); });
}

AgentStream::~AgentStream() {
  call_->context.TryCancel();
  {
    MutexLock lock(call_->mutex);
    call_->over = true;
    call_->taken.notify_all();
  }
  call_->reader.join();
}

void AgentStream::send(const pb::ClientMessage& message) {
  // Writes to an ended stream fail; the waits report its end.
  if (!call_->writes_done) call_->stream->Write(message);
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
  call_->writes_done = true;
  call_->stream->WritesDone();
}

void AgentStream::cancel() {
  call_->writes_done = true;
  call_->context.TryCancel();
}

AgentStream::Wait AgentStream::wait_for(const Pattern& pattern, std::chrono::milliseconds timeout) {
  Steady::time_point deadline = Steady::now() + timeout;
  MutexLock lock(call_->mutex);
  for (;;) {
    while (!call_->unread.empty()) {
      SeenMessage seen = std::move(call_->unread.front());
      call_->unread.pop_front();
      bool fits = pattern(seen.message);
      call_->taken.notify_all();
      keep(std::move(seen));
      if (fits) return Wait::found;
    }
    if (call_->end) {
      transcript_.end = call_->end;
      return Wait::ended;
    }
    std::int64_t left = milliseconds(deadline - Steady::now());
    if (left <= 0) return Wait::timed_out;
    call_->arrived.wait_for(call_->mutex, std::chrono::milliseconds(left));
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
