// The state machine of one stream. It connects the caller's messages, the work function and the send queue.
//
//   INITIAL -> RUNNING                    the start
//   RUNNING <-> WAITING_FOR_INPUT         wait_for_input(); a steering message or autonomous mode ends it
//   RUNNING <-> INTERRUPTED               an interrupt, seen at the work's next checkpoint; the resume
//   any -> ended                          COMPLETED, FAILED, or INTERRUPTED if the work did not end it itself
//
// A message gets its number and time under the lock when it enters the queue, so numbers follow the order of sending.
// The work waits for room in the queue, at most for the send deadline. Answers to the caller enter without waiting, but
// the caller is not read while the queue is full, so both directions are bounded.
//
// The class never calls gRPC. The driver of the stream calls take_next() after every wake-up.
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "gibson/agent.pb.h"
#include "output_batch.h"
#include "shepherd/agent/execution.h"
#include "shepherd/agent/server.h"

namespace shepherd::agent {

// The driver's next action.
struct NextStep {
  enum class Kind { nothing, write, finish, cancel };
  Kind kind = Kind::nothing;
  gibson::agent::AgentMessage message = {};  // write
  int status = 0;                            // finish: a gRPC status code
  std::string status_text = {};
};

class Conversation {
 public:
  Conversation(const ServerOptions& options, TraceContext trace, Metrics& metrics);

  // The callback runs without the lock whenever take_next() may have something new. Set it before the first message.
  void on_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  // --- the caller's side ---
  // Takes the first message. Returns false if it is not a usable start; the stream then ends with INVALID_ARGUMENT.
  bool start(const gibson::agent::ClientMessage& message);
  void receive(const gibson::agent::ClientMessage& message);
  void half_closed();  // the caller sends nothing more
  void stop(StopReason reason);
  void refuse(int status, std::string text);  // ends a stream that has not started
  bool may_read();                            // if false, ask again when write_done() returns true

  // --- the sending side ---
  NextStep take_next();
  bool write_done(bool sent);  // true if reading was held back and may continue
  void cancel_done();
  void tend();  // called periodically: sends joined text that is due, gives up a hanging write

  // --- the work's side; all but the first group may throw Stopped ---
  const Task& task() const { return task_; }
  const TraceContext& trace() const { return trace_; }
  Mode mode() const;
  bool interrupted() const;
  bool stopped() const;
  void log(LogLevel level, std::string message, std::string steering_id = {}) const;

  void text(std::string_view content, bool is_reasoning);
  void flush();
  void send(gibson::agent::AgentMessage message);
  bool checkpoint();
  void wait_for(std::chrono::milliseconds duration);
  std::optional<Steering> next_steering();
  std::optional<Steering> wait_for_input(std::string_view question);

  // Ends the stream after the work function has ended; `thrown` is what the work function threw. Throws nothing.
  void finish(std::exception_ptr thrown) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void handle(const gibson::agent::ClientMessage& message, Lock& lock);
  void steering(const gibson::agent::SteeringMessage& message, Lock& lock);
  void set_mode(gibson::agent::AgentMode mode);
  void guidance(Steering word, Lock& lock);
  void note_send_deadline() const;

  void put(gibson::agent::AgentMessage message);  // numbers the message; does not wait
  void put_status(gibson::agent::AgentStatus status, std::string_view message);
  void put_text();  // all joined text; does not wait
  void put_end(gibson::agent::AgentStatus status, std::string_view message, int code, std::string text);
  void put_failure(std::string_view code, std::string_view message);
  void put_outcome(const std::exception_ptr& thrown, Lock& lock);

  std::optional<Steering> take_word();
  bool pause_here(Lock& lock);  // a checkpoint
  void await_room(Lock& lock);
  void send_text(Lock& lock);  // all joined text; waits for room
  void give_up(StopReason reason);
  void wake_after(Lock& lock);
  void check_stopped() const;
  void wake();

  const ServerOptions& options_;
  const TraceContext trace_;
  Metrics& metrics_;
  std::function<void()> wake_;
  Task task_;  // set by start() before the work begins

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  OutputBatch batch_;
  std::deque<gibson::agent::AgentMessage> queue_;
  std::deque<Steering> words_;
  std::size_t words_told_ = 0;  // how many of words_ have already ended a wait_for() and were left unread
  std::int64_t sequence_ = 0;
  Mode mode_ = Mode::autonomous;
  gibson::agent::AgentStatus status_ = gibson::agent::AGENT_STATUS_RUNNING;
  std::string interrupt_reason_;
  bool interrupt_asked_ = false;  // until a resume answers it
  bool resume_asked_ = false;
  bool was_paused_ = false;  // since the last checkpoint()
  bool input_over_ = false;  // half closed
  bool ended_ = false;       // nothing more enters the queue
  bool writing_ = false;     // a message is with gRPC
  std::chrono::steady_clock::time_point write_since_;
  bool reading_held_ = false;
  bool cancel_asked_ = false;  // to give up a hanging write
  bool cancelling_ = false;
  bool finish_taken_ = false;
  std::optional<StopReason> stop_reason_;
  int end_code_ = 0;
  std::string end_text_;
};

}  // namespace shepherd::agent
