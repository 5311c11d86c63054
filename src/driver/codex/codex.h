// The driver of Codex: its app server (`codex app-server`), its one-way stream (`codex exec --json`), and the items of
// the sessions it leaves on disk.
//
// Lines are read once (json_slices.h). All dialects tell of the same items (item.h), which become events in one place.
// What the app server is told goes through CodexTalk, which knows what was said and what the server has shown of it
// since.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/codex/item.h"
#include "driver/codex/launch_options.h"
#include "driver/codex/talk.h"
#include "driver/codex/usage.h"
#include "driver/driver.h"
#include "driver/event_json.h"
#include "driver/open_calls.h"
#include "driver/text_joiner.h"
#include "json/slices.h"

namespace shepherd {

class Codex final : public Driver {
 public:
  std::string_view name() const override { return "codex"; }
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
  // launch.cpp
  std::string thread_params() const;

  // record.cpp: one record
  void not_protocol(std::string_view line, Actions& out);
  void unknown(std::string_view name, Actions& out);
  EventParts step(EventType type) const;
  void emit(Actions& out, const EventParts& parts, Detail detail = {});
  void status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members = {});
  void log(Actions& out, std::string_view text);
  void begin_session(const JsonNode& about, Actions& out);

  // server.cpp: what the app server says
  void server_record(Actions& out);
  void notification(std::string_view method, const JsonNode& params, Actions& out);
  bool turn_notification(std::string_view method, const JsonNode& params, Actions& out);
  bool remark(std::string_view method, const JsonNode& params, Actions& out);
  void delta(const JsonNode& params, Actions& out);
  void answered(Actions& out);
  void refused(const CodexRequest& request, std::string_view why, Actions& out);
  void turn_started(const JsonNode& turn, Actions& out);
  void turn_completed(const JsonNode& turn, Actions& out);
  void to_do(const JsonNode& params, Actions& out);
  void server_error(const JsonNode& error, bool will_retry, Actions& out);

  // exec.cpp: what `codex exec --json` says
  void exec_record(Actions& out);

  // rollout.cpp: what a session's file says
  void rollout_record(Actions& out);

  // show.cpp: items as events
  void item(const JsonNode& node, bool completed, Actions& out);
  void said(const CodexItem& item, Actions& out);
  void user_said(const CodexItem& item, Actions& out);
  void call_begun(const CodexItem& item, Actions& out);
  void call_ended(const CodexItem& item, Actions& out);
  void close_calls(std::string_view why, Actions& out);
  std::string event_id(std::string_view item_id, std::string_view part) const;

  // ending.cpp: turns and the run
  void tell_changes(Actions& out);
  void end_turn(std::string_view outcome, std::optional<std::int64_t> took_ms, Actions& out);
  void retry(std::string_view message, std::string_view cause, std::optional<std::uint64_t> http, Actions& out);
  void fatal(std::string_view message, std::string_view code, std::optional<std::uint64_t> http, Actions& out);
  void tell_usage(Actions& out);
  std::optional<std::int64_t> usage_due_ms() const;
  Verdict verdict(const ExitFacts& exit) const;
  void tell_failure(const Verdict& verdict, const ExitFacts& exit, Actions& out);
  void settle_open(Actions& out);

  // asks.cpp: what the server asks of us
  void server_request(std::string_view method, Actions& out);
  void ask_decision(std::string_view id, bool files, const JsonNode& params, Actions& out);
  void ask_permissions(std::string_view id, const JsonNode& params, Actions& out);
  void ask_input(std::string_view id, const JsonNode& params, Actions& out);
  void ask_elicitation(std::string_view id, const JsonNode& params, Actions& out);
  void ask_operator(CodexAsk ask, PendingAsk approval, std::string_view message, std::string_view turn, Actions& out);
  std::string remembered(const PendingAsk& approval) const;
  std::string accepted(const CodexAsk& ask, bool for_session) const;
  std::string declined(const CodexAsk& ask) const;
  void decide_by_mode(const std::string& approval_id, Actions& out);
  void resolved(std::string_view id, Actions& out);
  void close_approval(std::string_view id, std::string_view state, std::string_view message, Actions& out);
  void answer_approval(const Command& command, Actions& out);

  // steering.cpp: what an operator asks of the agent
  bool in_turn() const { return hints_.turn == Hints::Turn::running || hints_.turn == Hints::Turn::waiting; }
  void ask_server(CodexRequest request, std::string_view method, std::string_view params, Actions& out);
  void say(const std::string& word_id, const std::string& command_id, std::string_view text, Actions& out);
  std::vector<std::string> unsaid_words() const;
  void start_turn(const std::string& word_id, Actions& out);
  void steer(const std::string& word_id, Actions& out);
  void interrupt(const Command& command, Actions& out);
  void stop(const Command& command, Actions& out);
  void release_held(Actions& out);
  void taken_up(const CodexItem& item, Actions& out);
  void acknowledge(CodexWord& word, Actions& out);
  void forget_words(Actions& out);

  Launch launched_;
  CodexFormat format_ = CodexFormat::app_server;
  AgentMode mode_ = AgentMode::interactive;

  // The record at hand.
  JsonSlices record_;
  std::int64_t now_ms_ = 0;  // of the call
  std::int64_t at_ms_ = 0;   // of the record, by the agent's clock when it says
  int emitted_ = 0;          // events of this record
  std::string parent_call_;  // the call whose sub-agent the record is about

  OpenCalls calls_;
  std::map<std::string, std::string, std::less<>> agents_;  // sub-agents' threads -> the call that started them
  CodexUsage usage_;
  CodexTalk talk_;
  TextJoiner errors_;  // standard error
  Hints hints_;
  std::string model_, cwd_;
  std::string turn_;                        // the running one, by the server's id
  bool turn_asked_ = false;                 // a turn was asked for and is not known yet
  bool lives_ = false;                      // a program that prints now
  bool stopping_ = false;                   // it was asked to end
  bool policy_changed_ = false;             // the next turn is to be asked for with the policy of mode_
  std::optional<Command> early_interrupt_;  // came before the turn was known
  std::string last_text_;                   // the agent's newest words
  std::string last_error_;                  // reported in this turn
  std::string diff_;                        // of the turn so far
  std::int64_t usage_told_ms_ = 0;
  std::string stderr_tail_;
  struct Ending {
    bool good = false, aborted = false;
    std::string text;
  };
  std::optional<Ending> ending_;  // of the newest finished turn
};

}  // namespace shepherd
