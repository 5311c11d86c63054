// The driver of OpenCode by its own server, `opencode serve`: requests and a stream of events (driver/http_envelope.h).
//
// One server for one task. All sessions of its directory share the stream, so events are told apart by their session:
// ours, and those of its sub-agents. A part of a message is sent whole each time it grows; here it becomes live text
// while it does, and one event when it has ended.
// Threads: caller.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "driver/error_output.h"
#include "driver/opencode/parts.h"
#include "driver/pending.h"
#include "driver/record_events.h"

namespace shepherd {

class OpenCodeServer final : public Driver {
 public:
  std::string_view name() const override { return "opencode"; }
  std::vector<std::string> version_command(const std::string& program) const override;
  std::vector<std::string> state_paths(const Variable& variable) const override;
  Result<LaunchPlan> launch(const Launch& launch) override;
  void record(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void tick(std::int64_t now_ms, Actions& out) override;
  void command(const Command& command, std::int64_t now_ms, Actions& out) override;
  void withdraw(std::string_view command_id) override;
  Verdict finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) override;
  Capabilities capabilities() const override;
  AgentTraits traits() const override;
  Hints hints() const override;

 private:
  enum class Asked : std::uint8_t { session, prompt, abort, reply };
  // A request of ours that has no answer.
  struct Request {
    Asked what = Asked::prompt;
    std::string command_id;  // empty: no command asked for it
    bool stops = false;      // the abort of a task that is to end
  };
  // A word of ours to the model, until its turn is over.
  struct Word {
    std::string command_id;  // empty: the task itself
    std::string message_id;  // what the agent calls it; empty: it has not said
    bool taken_up = false;
  };
  struct Ending {
    bool good = false, aborted = false;
    std::string text;
  };

  // server_events.cpp: what the service says
  void event(Actions& out);
  void session_created(Actions& out);
  void session_status(const JsonNode& status, Actions& out);
  void session_error(Actions& out);
  void message_updated(Actions& out);
  void part_updated(Actions& out);
  void part_delta(Actions& out);
  void words(const JsonNode& part, Actions& out);
  void user_words(const JsonNode& part, Actions& out);
  void begin_turn(Actions& out);
  void end_turn(Actions& out);
  void tell_usage(bool ended, Actions& out);
  bool is_ours(std::string_view session) const { return !session_.empty() && session == session_; }
  bool concerns_us(std::string_view session) const { return is_ours(session) || children_.contains(session); }
  std::string parent_call() const;      // the call inside which the record at hand came about
  bool told(std::string_view part_id);  // before; from now on it is

  // server_answers.cpp: answers to requests of ours
  void answered(Actions& out);
  void session_opened(const JsonNode& body, Actions& out);
  void request_failed(const Request& request, std::string_view why, Actions& out);

  // server_approvals.cpp
  void permission_asked(Actions& out);
  void question_asked(Actions& out);
  void ask(PendingAsk ask, std::string_view summary, std::string_view remember, Actions& out);
  void replied(std::string_view state, Actions& out);
  void close_approval(std::string_view id, std::string_view state, std::string_view message, Actions& out);
  void decide_by_mode(const std::string& approval_id, Actions& out);
  void answer_approval(const Command& command, Actions& out);

  // server_steering.cpp
  bool in_turn() const { return hints_.turn == Hints::Turn::running || hints_.turn == Hints::Turn::waiting; }
  void send(Request request, std::string_view method, std::string path, std::string body, Actions& out);
  void say(std::string command_id, std::string_view text, Actions& out);
  void release_held(Actions& out);
  void expire_all(Actions& out);
  Verdict verdict(const ExitFacts& exit) const;

  Launch launched_;
  AgentMode mode_ = AgentMode::interactive;
  RecordEvents events_;
  OpenCodeTools tools_;
  OpenCodeUsage usage_;
  ErrorOutput errors_;
  Hints hints_;

  std::string prompt_, cwd_;
  std::string session_;
  std::map<std::string, std::string, std::less<>> children_;  // session of a sub-agent -> the call that started it
  struct Message {
    bool user = false;
    std::string model;
  };
  std::map<std::string, Message, std::less<>> messages_;  // the newest ones
  std::deque<std::string> message_order_;
  OpenCalls told_;                                  // parts that have become events
  std::map<std::string, bool, std::less<>> texts_;  // parts of text that still grow

  std::map<std::string, Request, std::less<>> requests_;  // by our id
  std::uint64_t next_request_ = 1;
  std::deque<Word> words_;
  std::deque<Command> held_;  // for the next turn
  PendingAsks approvals_;
  std::map<std::string, std::string, std::less<>> rules_;    // of open approvals: what can be remembered, as JSON
  std::map<std::string, std::string, std::less<>> replies_;  // approval -> the command that decided it

  bool stopping_ = false, aborted_ = false;
  std::int64_t usage_told_ms_ = 0;
  std::string last_text_;
  std::string failure_;       // of the turn that runs
  std::string failure_code_;  // of the newest turn that failed; empty: none has, or one has been good since
  std::optional<Ending> ending_;
};

}  // namespace shepherd
