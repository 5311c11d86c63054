// The client's end of the protocol: starts one agent, sends requests and notifications, and records every line.
//
// It answers what the agent asks as soon as a wait sees it: a permission as `on_permission` says, anything else with
// "no such method", because it offers nothing else. Owns the agent's processes and ends all of them.
// Threads: any for what AgentObserver has; caller for the rest.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "driver/line_splitter.h"
#include "harness/acp/acp_transcript.h"
#include "process/agent_process.h"

namespace shepherd::harness {

class AcpPeer final : public AgentObserver {
 public:
  // The `outcome` to answer with; nullopt leaves the request open until withdraw_permissions().
  using OnPermission = std::function<std::optional<boost::json::object>(const boost::json::object& params)>;
  enum class Wait { found, ended, timed_out };

  // Errors are those of AgentProcess::start().
  static Result<std::unique_ptr<AcpPeer>> start(const AgentSpec& spec);

  // The number that its answer will have.
  std::int64_t request(std::string_view method, const boost::json::object& params);
  void notify(std::string_view method, const boost::json::object& params);

  // Reads until a message of the agent matches, its output ends or the time is over. Each message is matched once.
  Wait wait_for(const std::function<bool(const boost::json::object&)>& pattern, std::chrono::milliseconds timeout);
  // The answer to a request: the whole message, with `result` or `error`. nullopt if there is none in time.
  std::optional<boost::json::object> answer(std::int64_t id, std::chrono::milliseconds timeout);
  void watch(std::chrono::milliseconds time);  // reads and answers for that long
  // Answers every permission request that is open with "cancelled", as a client does after a cancel.
  void withdraw_permissions();

  void close_input() { process_->close_input(); }
  bool wait_for_exit(std::chrono::milliseconds timeout) EXCLUDES(mutex_);
  // False if it has ended. One that has closed its output is given a moment to exit.
  bool running() EXCLUDES(mutex_);
  std::string exit_text() EXCLUDES(mutex_);  // "exit 1", "SIGKILL"; empty while it runs
  std::string tail() EXCLUDES(mutex_);       // the newest part of its standard error
  AgentEnd end() EXCLUDES(mutex_);           // ends all that is left, and says what that was
  int pid() const { return process_->pid(); }
  bool printed_too_much() const EXCLUDES(mutex_);

  AcpTranscript transcript() const EXCLUDES(mutex_);

  OnPermission on_permission = {};

  void on_output(AgentStream stream, std::string_view bytes) override EXCLUDES(mutex_);
  void on_output_closed(AgentStream stream) override EXCLUDES(mutex_);
  void on_exit(const AgentExit& exit) override EXCLUDES(mutex_);
  void on_end(const AgentEnd& end) override EXCLUDES(mutex_);

 private:
  AcpPeer() = default;
  void send(const boost::json::object& message) EXCLUDES(mutex_);
  void take(std::string text) REQUIRES(mutex_);
  void answer_its_request(const boost::json::object& message);
  std::optional<AcpLine> next(std::int64_t deadline_ms, bool& ended) EXCLUDES(mutex_);

  SystemClock clock_;
  std::int64_t asked_ = 0;
  std::vector<boost::json::value> open_permissions_;  // their ids
  LineSplitter splitter_;                             // of the process's thread

  mutable Mutex mutex_;
  CondVar changed_;
  AcpTranscript lines_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::size_t read_ GUARDED_BY(mutex_) = 0;  // lines that a wait has seen
  bool too_much_ GUARDED_BY(mutex_) = false;
  bool output_ended_ GUARDED_BY(mutex_) = false;
  std::string tail_ GUARDED_BY(mutex_);
  std::optional<AgentExit> exit_ GUARDED_BY(mutex_);
  std::unique_ptr<AgentProcess> process_;  // last: its thread uses all of the above
};

}  // namespace shepherd::harness
