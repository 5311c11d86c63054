// One piece of work and its conversation with the operator: what a work function gets.
//
// Every call that sends or waits is also a place where the work can be interrupted: when the operator has asked for it,
// the call says INTERRUPTED, waits for the resume, says RUNNING and goes on. So nothing leaves the agent while it is
// interrupted. Work that computes for long without sending calls checkpoint() now and then, or asks interrupted().
//
// When the stream is over (cancelled, closed while it waited, the server shuts down, the caller does not read), such a
// call throws Stopped. Let it pass: it unwinds the work, and the stream has said what happened already.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "shepherd/agent/finding.h"
#include "shepherd/agent/log.h"
#include "shepherd/agent/task.h"
#include "shepherd/agent/trace_context.h"

namespace shepherd::agent {

class Conversation;

enum class Mode {
  autonomous,   // works on without asking
  interactive,  // may wait for the operator
};

// What the operator said: a steering message, or the guidance that came with a resume.
struct Steering {
  std::string id;  // empty for a resume
  std::string content;
  std::map<std::string, std::string> metadata = {};
  bool is_resume = false;
};

enum class StopReason {
  cancelled,      // the caller cancelled the call or went away
  closed,         // the caller closed its side while the work waited for it
  shutdown,       // the server ends
  send_deadline,  // nothing could be sent for longer than the send deadline
};
std::string_view name(StopReason reason);

// Not a std::exception, so that a catch around a tool does not swallow it. Who swallows it anyway gets it again.
struct Stopped {
  StopReason reason;
};

// Thrown by a work function that cannot go on: a fatal error with its own code. Any other exception is WORK_FAILED.
class Failure : public std::runtime_error {
 public:
  Failure(std::string code, const std::string& message) : std::runtime_error(message), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

// Threads: any, while the work function runs.
class Execution {
 public:
  explicit Execution(std::shared_ptr<Conversation> conversation);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  const Task& task() const;
  const TraceContext& trace() const;
  Mode mode() const;

  // Text, joined until it is worth a message.
  void reason(std::string_view text);  // the agent's own reasoning
  void output(std::string_view text);  // what it says and does
  void flush();                        // sends joined text now

  // A tool's call and its result; the id ties them together. tool() does both around the body, which returns the output
  // as JSON; what the body throws becomes a failed result and a non-fatal TOOL_FAILED, and the answer is nothing.
  std::string tool_call(std::string_view tool, std::string_view input_json);
  void tool_result(std::string_view call_id, std::string_view output_json, bool success);
  std::optional<std::string> tool(std::string_view tool, std::string_view input_json,
                                  const std::function<std::string()>& body);

  void finding(const Finding& finding);
  void finding_json(std::string_view json);
  void error(std::string_view code, std::string_view message);  // not fatal; throw Failure for one that is

  // Waits while the operator has interrupted the work. True when it was interrupted since the last checkpoint(), here
  // or in another call: look at next_steering() for the guidance.
  bool checkpoint();
  bool interrupted() const;  // asked to; a long operation should come to a checkpoint
  bool stopped() const;      // the next call throws Stopped
  // A pause that an interrupt, a stop or a steering message ends early.
  void wait_for(std::chrono::milliseconds duration);

  // What the operator said, oldest first; acknowledged when it arrived.
  std::optional<Steering> next_steering();
  // In interactive mode: says WAITING_FOR_INPUT with the question and waits for the operator's word. Nothing in
  // autonomous mode, at once or when the operator switches to it.
  std::optional<Steering> wait_for_input(std::string_view question);

  // A log record with this stream's ids.
  void log(LogLevel level, std::string_view message) const;

 private:
  std::shared_ptr<Conversation> conversation_;
};

}  // namespace shepherd::agent
