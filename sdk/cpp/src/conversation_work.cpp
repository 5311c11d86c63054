// Implements the work's side. Every function that sends or waits is first a checkpoint.
#include <grpc/status.h>

#include <utility>

#include "conversation.h"
#include "utf8.h"

namespace shepherd::agent {
namespace pb = gibson::agent;

Mode Conversation::mode() const {
  Lock lock(mutex_);
  return mode_;
}

bool Conversation::interrupted() const {
  Lock lock(mutex_);
  return interrupt_asked_;
}

bool Conversation::stopped() const {
  Lock lock(mutex_);
  return ended_;
}

void Conversation::log(LogLevel level, std::string message, std::string steering_id) const {
  if (!options_.log) return;
  options_.log({.level = level,
                .message = std::move(message),
                .task_id = task_.id,
                .trace_id = trace_.trace_id,
                .span_id = trace_.span_id,
                .steering_id = std::move(steering_id)});
}

void Conversation::check_stopped() const {
  if (ended_) throw Stopped{stop_reason_.value_or(StopReason::closed)};
}

bool Conversation::pause_here(Lock& lock) {
  check_stopped();
  bool paused = false;
  while (interrupt_asked_) {
    paused = was_paused_ = true;
    put_text();
    put_status(pb::AGENT_STATUS_INTERRUPTED, interrupt_reason_);
    lock.unlock();
    log(LogLevel::info, "interrupted");
    wake();
    lock.lock();
    changed_.wait(lock, [this] { return resume_asked_ || ended_ || input_over_; });
    if (!resume_asked_ && !ended_) give_up(StopReason::closed);
    if (ended_) wake_after(lock);
    check_stopped();
    interrupt_asked_ = false;
    resume_asked_ = false;
    put_status(pb::AGENT_STATUS_RUNNING, "resumed");
    lock.unlock();
    log(LogLevel::info, "resumed");
    wake();
    lock.lock();
    check_stopped();
  }
  return paused;
}

// Wakes the driver without the lock.
void Conversation::wake_after(Lock& lock) {
  lock.unlock();
  wake();
  lock.lock();
}

void Conversation::await_room(Lock& lock) {
  auto has_room = [this] { return queue_.size() < options_.send_queue || ended_; };
  if (!changed_.wait_for(lock, options_.send_deadline, has_room)) {
    give_up(StopReason::send_deadline);
    lock.unlock();
    note_send_deadline();
    wake();
    lock.lock();
  }
  check_stopped();
}

void Conversation::send_text(Lock& lock) {
  await_room(lock);
  put_text();
}

void Conversation::text(std::string_view content, bool is_reasoning) {
  Lock lock(mutex_);
  pause_here(lock);
  if (!batch_.accepts(is_reasoning)) send_text(lock);
  batch_.add(content, is_reasoning, std::chrono::steady_clock::now());
  if (batch_.is_full()) send_text(lock);
  wake_after(lock);
}

void Conversation::flush() {
  Lock lock(mutex_);
  pause_here(lock);
  send_text(lock);
  wake_after(lock);
}

void Conversation::send(pb::AgentMessage message) {
  Lock lock(mutex_);
  pause_here(lock);
  send_text(lock);  // earlier text goes first
  put(std::move(message));
  wake_after(lock);
}

bool Conversation::checkpoint() {
  Lock lock(mutex_);
  pause_here(lock);
  return std::exchange(was_paused_, false);
}

void Conversation::wait_for(std::chrono::milliseconds duration) {
  Lock lock(mutex_);
  pause_here(lock);
  // A message that arrived before this call, but after the work last looked, also ends the pause.
  changed_.wait_for(lock, duration, [&] { return ended_ || interrupt_asked_ || words_.size() > words_told_; });
  words_told_ = words_.size();
  pause_here(lock);
}

std::optional<Steering> Conversation::take_word() {
  if (words_.empty()) return {};
  Steering word = std::move(words_.front());
  words_.pop_front();
  if (words_told_ > 0) --words_told_;
  return word;
}

std::optional<Steering> Conversation::next_steering() {
  Lock lock(mutex_);
  pause_here(lock);
  return take_word();
}

std::optional<Steering> Conversation::wait_for_input(std::string_view question) {
  Lock lock(mutex_);
  pause_here(lock);
  bool asked = false;
  while (words_.empty() && mode_ == Mode::interactive) {
    if (input_over_) {
      give_up(StopReason::closed);
      wake_after(lock);
    }
    check_stopped();
    put_text();
    put_status(pb::AGENT_STATUS_WAITING_FOR_INPUT, question);
    asked = true;
    wake_after(lock);
    changed_.wait(lock, [this] {
      return !words_.empty() || mode_ == Mode::autonomous || interrupt_asked_ || ended_ || input_over_;
    });
    if (pause_here(lock)) asked = false;  // pause_here() has reported RUNNING
  }
  if (asked) {
    put_status(pb::AGENT_STATUS_RUNNING, words_.empty() ? "goes on alone" : "goes on");
    wake_after(lock);
  }
  return take_word();
}

void Conversation::put_failure(std::string_view code, std::string_view text) {
  put_text();
  pb::AgentMessage message;
  message.mutable_error()->set_code(valid_utf8(code));
  message.mutable_error()->set_message(valid_utf8(text));
  message.mutable_error()->set_fatal(true);
  put(std::move(message));
  put_end(pb::AGENT_STATUS_FAILED, text, GRPC_STATUS_OK, {});
}

void Conversation::put_outcome(const std::exception_ptr& thrown, Lock& lock) {
  if (ended_) return;  // the stream has already reported how it ended
  try {
    if (thrown) std::rethrow_exception(thrown);
    pause_here(lock);  // honours an interrupt that the work never looked at
    send_text(lock);
    put_end(pb::AGENT_STATUS_COMPLETED, "completed", GRPC_STATUS_OK, {});
  } catch (const Stopped&) {
    if (!ended_) put_end(pb::AGENT_STATUS_INTERRUPTED, "stopped by the work itself", GRPC_STATUS_OK, {});
  } catch (const Failure& failure) {
    put_failure(failure.code(), failure.what());
  } catch (const std::exception& problem) {
    put_failure("WORK_FAILED", problem.what());
  } catch (...) {
    put_failure("WORK_FAILED", "the work threw something that is not an exception");
  }
}

void Conversation::finish(std::exception_ptr thrown) noexcept {
  pb::AgentStatus status{};
  {
    Lock lock(mutex_);
    put_outcome(thrown, lock);
    status = status_;
  }
  log(status == pb::AGENT_STATUS_FAILED ? LogLevel::error : LogLevel::info, "ended: " + pb::AgentStatus_Name(status));
  wake();
}

}  // namespace shepherd::agent
