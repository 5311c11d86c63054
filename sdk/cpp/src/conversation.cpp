// Implements the caller's side and the sending side. The work's side is in conversation_work.cpp.
#include "conversation.h"

#include <grpc/status.h>

#include "utf8.h"

namespace shepherd::agent {
namespace pb = gibson::agent;
namespace {

std::int64_t now_ms() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Mode mode_of(pb::AgentMode mode) {
  return mode == pb::AGENT_MODE_INTERACTIVE ? Mode::interactive : Mode::autonomous;
}

}  // namespace

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::cancelled:
      return "cancelled";
    case StopReason::closed:
      return "closed";
    case StopReason::shutdown:
      return "shutdown";
    case StopReason::send_deadline:
      return "send_deadline";
  }
  return "stopped";
}

Conversation::Conversation(const ServerOptions& options, TraceContext trace, Metrics& metrics)
    : options_(options),
      trace_(std::move(trace)),
      metrics_(metrics),
      batch_(options.batch_bytes, options.batch_interval) {}

bool Conversation::start(const pb::ClientMessage& message) {
  ++metrics_.messages_received;
  if (!message.has_start()) {
    refuse(GRPC_STATUS_INVALID_ARGUMENT, "the first message must be start (StartExecutionRequest)");
    return false;
  }
  std::string problem;
  std::optional<Task> task = parse_task(message.start().task_json(), problem);
  if (!task) {
    refuse(GRPC_STATUS_INVALID_ARGUMENT, valid_utf8(problem));
    return false;
  }
  task_ = *std::move(task);
  {
    Lock lock(mutex_);
    mode_ = mode_of(message.start().initial_mode());
    put_status(pb::AGENT_STATUS_RUNNING, "started");
  }
  log(LogLevel::info, "started");
  wake();
  return true;
}

void Conversation::receive(const pb::ClientMessage& message) {
  ++metrics_.messages_received;
  {
    Lock lock(mutex_);
    if (!ended_) handle(message, lock);
  }
  changed_.notify_all();
  wake();
}

void Conversation::handle(const pb::ClientMessage& message, Lock& lock) {
  switch (message.payload_case()) {
    case pb::ClientMessage::kSteering:
      steering(message.steering(), lock);
      break;
    case pb::ClientMessage::kInterrupt:
      interrupt_asked_ = true;
      resume_asked_ = false;
      interrupt_reason_ = message.interrupt().reason();
      break;
    case pb::ClientMessage::kSetMode:
      set_mode(message.set_mode().mode());
      break;
    case pb::ClientMessage::kResume:
      resume_asked_ = interrupt_asked_;
      if (!message.resume().guidance().empty()) {
        guidance({.id = {}, .content = message.resume().guidance(), .metadata = {}, .is_resume = true}, lock);
      }
      break;
    case pb::ClientMessage::kStart: {
      pb::AgentMessage answer;
      answer.mutable_error()->set_code("ALREADY_STARTED");
      answer.mutable_error()->set_message("this stream has its task already; open another for another");
      put(std::move(answer));
      break;
    }
    case pb::ClientMessage::PAYLOAD_NOT_SET:
      break;  // a kind of a later protocol version
  }
}

void Conversation::steering(const pb::SteeringMessage& message, Lock& lock) {
  ++metrics_.steering_messages;
  Steering word{.id = message.id(),
                .content = message.content(),
                .metadata = {message.metadata().begin(), message.metadata().end()}};
  std::string response = "acknowledged: " + word.content;
  if (words_.size() >= options_.steering_queue) {
    response = "refused: the agent has not looked at the messages before this one";
  } else {
    if (options_.acknowledge) {  // runs the agent's own code, so without the lock
      lock.unlock();
      try {
        response = options_.acknowledge(word);
      } catch (const std::exception& problem) {
        log(LogLevel::error, std::string("the acknowledgement failed: ") + problem.what(), word.id);
      }
      lock.lock();
      if (ended_) return;
    }
    words_.push_back(word);
  }
  pb::AgentMessage ack;
  ack.mutable_steering_ack()->set_message_id(message.id());
  ack.mutable_steering_ack()->set_response(valid_utf8(response));
  put(std::move(ack));
  lock.unlock();
  log(LogLevel::info, "steering received", message.id());
  lock.lock();
}

void Conversation::set_mode(pb::AgentMode mode) {
  mode_ = mode_of(mode);
  put_status(status_, mode_ == Mode::interactive ? "mode: interactive" : "mode: autonomous");
}

void Conversation::guidance(Steering word, Lock& lock) {
  if (words_.size() < options_.steering_queue) return words_.push_back(std::move(word));
  lock.unlock();  // a resume has no acknowledgement that could carry the refusal
  log(LogLevel::warning, "the guidance of a resume is lost: the work has not looked at the messages before it");
  lock.lock();
}

void Conversation::half_closed() {
  {
    Lock lock(mutex_);
    input_over_ = true;  // work that needs no input from the caller continues
  }
  changed_.notify_all();
}

void Conversation::stop(StopReason reason) {
  {
    Lock lock(mutex_);
    if (ended_) return;
    give_up(reason);
  }
  changed_.notify_all();
  log(LogLevel::info, "stopped: " + std::string(name(reason)));
  wake();
}

void Conversation::refuse(int status, std::string text) {
  {
    Lock lock(mutex_);
    ended_ = true;
    end_code_ = status;
    end_text_ = text;
  }
  log(LogLevel::warning, "refused: " + text);
  wake();
}

bool Conversation::may_read() {
  Lock lock(mutex_);
  reading_held_ = queue_.size() >= options_.send_queue && !ended_;
  return !reading_held_;
}

NextStep Conversation::take_next() {
  Lock lock(mutex_);
  NextStep next;
  if (cancel_asked_ && writing_) {
    cancel_asked_ = false;
    cancelling_ = true;
    next.kind = NextStep::Kind::cancel;
  } else if (writing_ || cancelling_ || finish_taken_) {
    next.kind = NextStep::Kind::nothing;
  } else if (!queue_.empty()) {
    writing_ = true;
    write_since_ = std::chrono::steady_clock::now();
    next.kind = NextStep::Kind::write;
    next.message = std::move(queue_.front());
    queue_.pop_front();
  } else if (ended_) {
    finish_taken_ = true;
    next.kind = NextStep::Kind::finish;
    next.status = end_code_;
    next.status_text = end_text_;
  }
  return next;
}

bool Conversation::write_done(bool sent) {
  bool read_on = false;
  {
    Lock lock(mutex_);
    writing_ = false;
    if (sent) {
      ++metrics_.messages_sent;
    } else {  // the caller is gone; queued messages can never be sent
      if (!ended_) give_up(StopReason::cancelled);
      queue_.clear();
    }
    if (reading_held_ && (queue_.size() < options_.send_queue || ended_)) {
      reading_held_ = false;
      read_on = true;
    }
  }
  changed_.notify_all();
  wake();
  return read_on;
}

void Conversation::cancel_done() {
  {
    Lock lock(mutex_);
    cancelling_ = false;
  }
  wake();
}

void Conversation::tend() {
  bool hangs = false;
  {
    Lock lock(mutex_);
    auto now = std::chrono::steady_clock::now();
    // This counts after the work has ended, too: then no sender waits, and only this check releases the stream.
    hangs = writing_ && !cancel_asked_ && !cancelling_ && now - write_since_ > options_.send_deadline;
    if (hangs) {
      give_up(StopReason::send_deadline);
    } else if (!ended_ && queue_.size() < options_.send_queue && batch_.is_due(now)) {
      put_text();
    } else {
      return;
    }
  }
  if (hangs) note_send_deadline();
  changed_.notify_all();
  wake();
}

void Conversation::note_send_deadline() const {
  log(LogLevel::error, "send_deadline: the caller did not read in time; the stream is given up");
}

void Conversation::put(pb::AgentMessage message) {
  if (ended_) return;
  message.set_trace_id(trace_.trace_id);
  message.set_span_id(trace_.span_id);
  message.set_sequence(++sequence_);
  message.set_timestamp_ms(now_ms());
  queue_.push_back(std::move(message));
}

void Conversation::put_status(pb::AgentStatus status, std::string_view text) {
  status_ = status;
  pb::AgentMessage message;
  message.mutable_status()->set_status(status);
  message.mutable_status()->set_message(valid_utf8(text));
  put(std::move(message));
}

void Conversation::put_text() {
  while (auto chunk = batch_.take()) {
    pb::AgentMessage message;
    message.mutable_output()->set_content(std::move(chunk->content));
    message.mutable_output()->set_is_reasoning(chunk->is_reasoning);
    put(std::move(message));
  }
}

void Conversation::put_end(pb::AgentStatus status, std::string_view message, int code, std::string text) {
  put_text();
  put_status(status, message);
  ended_ = true;
  end_code_ = code;
  end_text_ = std::move(text);
}

// Ends the stream now, whatever the work is doing. The work's next call throws Stopped.
void Conversation::give_up(StopReason reason) {
  stop_reason_ = reason;
  switch (reason) {
    case StopReason::cancelled:
      put_end(pb::AGENT_STATUS_INTERRUPTED, "cancelled", GRPC_STATUS_CANCELLED, "cancelled by the caller");
      break;
    case StopReason::closed:  // the stream reported INTERRUPTED or WAITING_FOR_INPUT, and no answer can come
      if (status_ != pb::AGENT_STATUS_INTERRUPTED) put_status(pb::AGENT_STATUS_INTERRUPTED, "closed by the caller");
      ended_ = true;
      break;
    case StopReason::shutdown:
      put_end(pb::AGENT_STATUS_INTERRUPTED, "the agent is shutting down", GRPC_STATUS_UNAVAILABLE,
              "the agent is shutting down");
      break;
    case StopReason::send_deadline:
      queue_.clear();  // the hanging write is cancelled; then the stream ends
      ended_ = true;
      cancel_asked_ = true;
      end_code_ = GRPC_STATUS_DEADLINE_EXCEEDED;
      end_text_ = "send_deadline: the caller did not read in time";
      break;
  }
}

void Conversation::wake() {
  if (wake_) wake_();
}

}  // namespace shepherd::agent
