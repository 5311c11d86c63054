// An Execution is what a work function gets: one piece of work and its conversation with the operator.
//
// Every call that sends or waits can interrupt the work. If the operator has asked for an interrupt, the call reports
// INTERRUPTED, waits for the resume, reports RUNNING and continues. The agent therefore sends nothing while it is
// interrupted. Work that computes for a long time without sending should call checkpoint() now and then, or test
// interrupted().
//
// Such a call throws Stopped when the stream is over: it was cancelled, it was closed while the work waited, the server
// shuts down, or the peer stopped reading. Let the exception pass. It unwinds the work; the stream has already reported
// what happened.
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
  autonomous,   // continues without asking
  interactive,  // may wait for the operator
};

// A message from the operator: a steering message, or the guidance that came with a resume.
struct Steering {
  std::string id;  // empty for a resume
  std::string content;
  std::map<std::string, std::string> metadata = {};
  bool is_resume = false;
};

enum class StopReason {
  cancelled,      // the caller cancelled the call or went away
  closed,         // the caller closed its side while the work waited for it
  shutdown,       // the server is shutting down
  send_deadline,  // nothing could be sent for longer than the send deadline
};
std::string_view name(StopReason reason);

// Not a std::exception, so that a catch around a tool does not swallow it. If the work swallows it, the next call
// throws it again.
struct Stopped {
  StopReason reason;
};

// A work function throws this when it cannot go on. It reports a fatal error with its own code; any other exception is
// reported as WORK_FAILED.
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

  // The library joins text into larger messages before it sends them.
  void reason(std::string_view text);  // the agent's own reasoning
  void output(std::string_view text);  // what the agent says and does
  void flush();                        // sends the joined text now

  // Report a tool call and its result; the id connects them. tool() reports both around `body`, which returns the
  // output as JSON. If `body` throws, tool() reports a failed result and a non-fatal TOOL_FAILED and returns nothing.
  std::string tool_call(std::string_view tool, std::string_view input_json);
  void tool_result(std::string_view call_id, std::string_view output_json, bool success);
  std::optional<std::string> tool(std::string_view tool, std::string_view input_json,
                                  const std::function<std::string()>& body);

  void finding(const Finding& finding);
  void finding_json(std::string_view json);
  void error(std::string_view code, std::string_view message);  // not fatal; throw Failure for a fatal error

  // Waits while the operator has interrupted the work. Returns true if the work was interrupted since the last
  // checkpoint(), here or in another call; next_steering() then has the guidance.
  bool checkpoint();
  bool interrupted() const;  // an interrupt is pending; a long operation should reach a checkpoint soon
  bool stopped() const;      // the next call throws Stopped
  // Pauses. An interrupt, a stop or a steering message ends the pause early.
  void wait_for(std::chrono::milliseconds duration);

  // Returns the operator's messages, oldest first. The library acknowledged them when they arrived.
  std::optional<Steering> next_steering();
  // In interactive mode, reports WAITING_FOR_INPUT with the question and waits for the operator's message. In
  // autonomous mode it returns nothing, also when the operator switches to that mode during the wait.
  std::optional<Steering> wait_for_input(std::string_view question);

  // Writes a log record with this stream's ids.
  void log(LogLevel level, std::string_view message) const;

 private:
  std::shared_ptr<Conversation> conversation_;
};

}  // namespace shepherd::agent
