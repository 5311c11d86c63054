#include "stream.h"

#include "wire.h"

#include <chrono>
#include <cstdlib>

namespace defective {
namespace {

constexpr std::chrono::milliseconds kStep{60};
constexpr std::chrono::milliseconds kLook{10};
constexpr int kSteps = 5;
constexpr std::size_t kFloodPiece = 64 * 1024;
// Of the protocol's numbers, so that the messages of this agent do not depend on how a library makes ids.
const char* const kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const char* const kSpan = "00f067aa0ba902b7";

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::atomic<bool> shutting_down{false};
std::atomic<int> open_streams{0};

void Stream::send(pb::AgentMessage message) {
  std::lock_guard lock(sending_);
  ++sequence_;
  std::int64_t number = sequence_;
  if (has("sequence_starts_at_zero")) --number;
  if (has("sequence_repeats") && number > 3) --number;
  if (has("sequence_gap") && number > 3) ++number;
  message.set_sequence(number);
  if (!has("no_trace_id") || number < 3) message.set_trace_id(has("short_trace_id") ? "4bf92f35" : kTrace);
  if (has("trace_id_changes") && number > 3) message.set_trace_id("5bf92f3577b34da6a3ce929d0e0e4736");
  if (!has("no_span_id") || number < 3) message.set_span_id(has("upper_case_span_id") ? "00F067AA0BA902B7" : kSpan);
  if (!has("no_timestamp") || number < 3)
    message.set_timestamp_ms(has("timestamp_in_seconds") ? now_ms() / 1000 : now_ms());
  {
    std::lock_guard lock_flag(mutex_);
    writing_ = true;
  }
  // Written in the other dialect, the rest of a message cannot be read.
  outgoing_ = written(message, has("answers_in_the_other_dialect") ? !typed_ : typed_);
  StartWrite(&outgoing_);  // without the lock: on a cancelled call OnWriteDone comes from inside
  std::unique_lock wire(mutex_);
  heard_.wait(wire, [this] { return !writing_; });
}

void Stream::say(pb::AgentStatus status, const std::string& message) {
  pb::AgentMessage out;
  out.mutable_status()->set_status(status);
  out.mutable_status()->set_message(message);
  send(out);
}

void Stream::output(const std::string& text, bool is_reasoning) {
  pb::AgentMessage out;
  out.mutable_output()->set_content(text);
  out.mutable_output()->set_is_reasoning(is_reasoning);
  send(out);
}

void Stream::non_fatal_error() {
  pb::AgentMessage out;
  if (!has("error_without_code")) out.mutable_error()->set_code("TOOL_FAILED");
  out.mutable_error()->set_message("the tool did not answer");
  out.mutable_error()->set_fatal(has("fatal_error_goes_on"));
  send(out);
}

void Stream::tool(int number) {
  std::string id = has("call_without_id") ? "" : has("call_id_repeats") ? "call" : "call-" + std::to_string(number);
  if (!has("result_without_call")) {
    pb::AgentMessage call;
    call.mutable_tool_call()->set_tool_name("read");
    call.mutable_tool_call()->set_input_json(has("input_is_not_json") ? "item one" : "{\"item\":1}");
    call.mutable_tool_call()->set_call_id(id);
    send(call);
  }
  if (has("call_without_result")) return;
  pb::AgentMessage result;
  result.mutable_tool_result()->set_call_id(id);
  result.mutable_tool_result()->set_output_json(has("output_is_not_json") ? "one" : "{\"text\":\"one\"}");
  result.mutable_tool_result()->set_success(true);
  send(result);
  if (has("result_twice")) send(result);
}

void Stream::finding() {
  pb::AgentMessage out;
  out.mutable_finding()->set_finding_json(has("finding_is_not_json") ? "a password"
                                          : has("finding_without_severity")
                                              ? "{\"title\":\"A password\"}"
                                              : "{\"title\":\"A password\",\"severity\":\"high\"}");
  send(out);
}

void Stream::ack(const pb::SteeringMessage& steering) {
  if (has("no_ack") || (has("forgets_second_ack") && steering.id() == "steer-2")) return;
  pb::AgentMessage out;
  out.mutable_steering_ack()->set_message_id(has("ack_of_wrong_id") ? "another" : steering.id());
  out.mutable_steering_ack()->set_response("heard");
  send(out);
  if (has("acks_twice")) send(out);
}

void Stream::hear(const pb::ClientMessage& message) {
  if (message.has_steering()) ack(message.steering());
  std::lock_guard lock(mutex_);
  if (message.has_steering() && !has("ignores_input")) words_.push_back(message.steering().content());
  if (message.has_interrupt()) {
    interrupted_ = !has("never_interrupted");
    resumed_ = false;
  }
  if (message.has_resume()) resumed_ = !has("does_not_resume");
  if (message.has_set_mode()) {
    bool interactive = message.set_mode().mode() == pb::AGENT_MODE_INTERACTIVE;
    if (interactive || !has("waits_on_in_autonomous_mode")) interactive_ = interactive;
    mode_broke_ = has("mode_ends_stream");
    if (has("crashes_on_mode_switch")) std::abort();
  }
  heard_.notify_all();
}

void Stream::OnReadDone(bool ok) {
  pb::ClientMessage message;
  if (ok) ok = read(incoming_, typed_, message);
  if (!ok) {
    std::lock_guard lock(mutex_);
    closed_ = true;
    heard_.notify_all();
    if (!started_) Finish({grpc::StatusCode::INVALID_ARGUMENT, "no start"});
    return;
  }
  if (!started_) {
    started_ = true;
    if (grpc::Status refused = refusal(message); !refused.ok()) return Finish(refused);
    interactive_ = message.start().initial_mode() == pb::AGENT_MODE_INTERACTIVE;
    worker_ = std::thread([this] { Finish(run()); });
  } else {
    hear(message);
  }
  StartRead(&incoming_);
}

void Stream::OnWriteDone(bool /*ok*/) {
  std::lock_guard lock(mutex_);
  writing_ = false;
  heard_.notify_all();
}

void Stream::OnDone() {
  if (worker_.joinable()) worker_.detach();  // it is past its last use of this
  delete this;
  --open_streams;
  open_streams.notify_all();
}

bool Stream::pause_if_interrupted() {
  std::unique_lock lock(mutex_);
  if (!interrupted_) return true;
  lock.unlock();
  say(pb::AGENT_STATUS_INTERRUPTED, "interrupted");
  if (has("finishes_its_step_when_interrupted")) output("the rest of it", false);
  if (has("ends_when_interrupted") || has("finishes_its_step_when_interrupted")) return false;
  if (has("works_while_interrupted")) output("still at it", false);
  lock.lock();
  while (!resumed_ && !(closed_ && !has("outlives_its_caller")) && !is_cancelled() && !shutting_down) {
    heard_.wait_for(lock, kLook);
  }
  if (!resumed_) return false;
  interrupted_ = resumed_ = false;
  lock.unlock();
  if (!has("resumes_silently")) say(pb::AGENT_STATUS_RUNNING, "resumed");
  return true;
}

bool Stream::wait_if_interactive() {
  std::unique_lock lock(mutex_);
  bool waits = interactive_ || has("waits_in_autonomous_mode");
  if (!waits || !words_.empty()) {
    words_.clear();
    return true;
  }
  lock.unlock();
  say(pb::AGENT_STATUS_WAITING_FOR_INPUT, "go on?");
  lock.lock();
  while (words_.empty() && (interactive_ || has("waits_in_autonomous_mode")) && !interrupted_ && !closed_) {
    if (is_cancelled() || shutting_down) return false;
    heard_.wait_for(lock, kLook);
  }
  words_.clear();
  lock.unlock();
  say(pb::AGENT_STATUS_RUNNING, "goes on");
  return true;
}

bool Stream::breathe() {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, kStep, [this] { return interrupted_ || mode_broke_; });
  if (is_cancelled()) return false;
  return !shutting_down;
}

grpc::Status Stream::end() {
  if (has("no_terminal_status")) return grpc::Status::OK;
  if (has("fails")) {
    say(pb::AGENT_STATUS_FAILED, "no such model");
    return grpc::Status::OK;
  }
  say(pb::AGENT_STATUS_COMPLETED, "done");
  if (has("messages_after_completed")) output("one more thing", false);
  std::unique_lock lock(mutex_);
  while ((has("stays_open") || (has("waits_for_half_close") && !closed_)) && !is_cancelled() && !shutting_down) {
    heard_.wait_for(lock, kLook);
  }
  lock.unlock();
  return has("completed_with_error") ? grpc::Status(grpc::StatusCode::INTERNAL, "but") : grpc::Status::OK;
}

grpc::Status Stream::refusal(const pb::ClientMessage& first) const {
  if (!first.has_start() && !has("accepts_bad_first_message")) {
    return {has("unknown_for_bad_first_message") ? grpc::StatusCode::UNKNOWN : grpc::StatusCode::INVALID_ARGUMENT,
            "the first message must be start"};
  }
  if (first.has_start() && !first.start().task_json().ends_with('}') && !has("accepts_bad_task")) {
    return {has("unknown_for_bad_task") ? grpc::StatusCode::UNKNOWN : grpc::StatusCode::INVALID_ARGUMENT,
            "task_json is not JSON"};
  }
  return grpc::Status::OK;
}

void Stream::step(int number) {
  output("thinking about it", true);
  output("step " + std::to_string(number), false);
  if (has("floods") && number == 0) {
    for (int i = 0; i < 200; ++i) output("x", false);
  }
  if (has("floods_without_end")) {
    for (int i = 0; i < 100 && !is_cancelled(); ++i) output(std::string(kFloodPiece, 'x'), false);
  }
  if (number == 1 && has("message_without_payload")) {
    pb::AgentMessage empty;
    send(empty);
  }
  if (number == 1) tool(1);
  if (number == 2) {
    tool(2);
    finding();
  }
  if (number == 3) {
    non_fatal_error();
    failed_ = has("error_ends_stream") || has("error_fails_run");
    if (has("error_fails_run")) say(pb::AGENT_STATUS_FAILED, "an error");
  }
}

grpc::Status Stream::run() {
  if (has("crashes_on_start")) std::abort();
  while (has("never_answers") && !cancelled_ && !shutting_down) std::this_thread::sleep_for(kLook);
  if (has("never_answers")) return grpc::Status::OK;
  if (!has("no_running_status")) say(pb::AGENT_STATUS_RUNNING, "started");
  bool whole = true;
  for (int number = 0; whole && !failed_ && (number < kSteps || has("never_ends") || has("floods_without_end"));
       ++number) {
    step(number);
    if (failed_) break;
    whole = breathe() && pause_if_interrupted() && !mode_broke_ && wait_if_interactive();
  }
  if (has("ignores_cancel") && cancelled_)
    std::this_thread::sleep_for(std::chrono::seconds(60));  // no client waits for it
  if (mode_broke_) return {grpc::StatusCode::UNKNOWN, "what mode?"};
  if (failed_) return grpc::Status::OK;
  if (whole) return end();
  if (shutting_down && !has("silent_shutdown")) say(pb::AGENT_STATUS_INTERRUPTED, "shutting down");
  return grpc::Status::OK;
}

}  // namespace defective
