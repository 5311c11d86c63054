// The driver of Claude Code: `claude -p` in all its output formats, and the transcripts it leaves on disk.
//
// Lines are read once (json_slices.h) and dispatched by `type` and `subtype`. What the agent is told goes through
// ClaudeTalk, which knows what was said and what the agent's own stream has shown of it since.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/claude/launch_options.h"
#include "driver/claude/talk.h"
#include "driver/claude/tools.h"
#include "driver/claude/usage.h"
#include "driver/driver.h"
#include "driver/event_json.h"
#include "driver/open_calls.h"
#include "driver/text_joiner.h"
#include "json/slices.h"

namespace shepherd {

class ClaudeCode final : public Driver {
 public:
  std::string_view name() const override { return "claude"; }
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

  // Transcripts keep the lines of a sub-agent in a file of their own: what is given to record() from now on belongs to
  // this call; empty: to the session itself.
  void set_parent_call(std::string_view call_id) { parent_call_ = call_id; }

 private:
  // claude_launch.cpp: an option the program says it does not know, which a run can do without; empty: none
  std::string_view dispensable_option(std::string_view errors) const;
  Verdict::Retry simpler_launch(std::string_view errors) const;

  // claude_stream.cpp: one record
  void stream_record(std::string_view line, Actions& out);
  void dispatch(Actions& out);
  void not_protocol(std::string_view line, Actions& out);
  void unknown(Actions& out);
  EventParts step(EventType type);
  std::string_view parent_call() const;
  void emit(Actions& out, const EventParts& parts, Detail detail = {});
  void status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members = {});
  void delta(Actions& out);

  // claude_messages.cpp
  void assistant(Actions& out);
  void message_content(bool failed, Actions& out);
  void user(Actions& out);
  void said(const JsonNode& text, std::string_view kind, Actions& out);
  void api_error(std::string_view text, Actions& out);
  void tool_call(const JsonNode& block, Actions& out);
  void tool_result(const JsonNode& block, Actions& out);
  void user_text(const JsonNode& text, Actions& out);
  std::string result_text(const JsonNode& content) const;
  bool was_rejected(std::string_view call_id) const;

  // claude_system.cpp
  void system(Actions& out);
  void init(Actions& out);
  void api_retry(Actions& out);
  void permission_denied(Actions& out);
  void task(std::string_view subtype, Actions& out);
  void background_tasks(Actions& out);
  void hook_response(Actions& out);
  void agent_status(Actions& out);
  void compacted(Actions& out);

  // claude_result.cpp
  void result(Actions& out);
  void cost_state(Actions& out);
  void end_turn(bool aborted, Actions& out);
  void tell_usage(Actions& out);
  std::optional<std::int64_t> usage_due_ms() const;
  std::string failure_text() const;
  std::string usage_summary() const;

  // claude_control.cpp: what the agent asks of us
  void control_request(Actions& out);
  void ask_operator(std::string_view request_id, const JsonNode& request, Actions& out);
  void control_response(Actions& out);
  void control_cancel(Actions& out);
  void lifecycle(Actions& out);
  void take_up(ClaudeMessage& message, Actions& out);
  void shown_to_model(std::string_view uuid, Actions& out);
  void close_approval(std::string_view id, std::string_view state, std::string_view message, Actions& out);
  void decide_by_mode(std::string_view approval_id, Actions& out);

  // claude_steering.cpp: what an operator asks of the agent
  bool in_turn() const { return hints_.turn == Hints::Turn::running || hints_.turn == Hints::Turn::waiting; }
  void say(const Command& command, std::string_view text, bool next_turn, Actions& out);
  void answer_approval(const Command& command, Actions& out);
  void release_held(Actions& out);
  void settle_answer(std::string_view call_id, Actions& out);

  // claude_batch.cpp: the formats that say everything at the end
  void batch_array(std::string_view array, Actions& out);
  void finish_batch(Actions& out);
  void finish_text(const ExitFacts& exit, Actions& out);
  Verdict verdict(const ExitFacts& exit) const;
  void tell_failure(const Verdict& verdict, const ExitFacts& exit, Actions& out);

  Launch launched_;
  OutputFormat format_ = OutputFormat::bidirectional;
  AgentMode mode_ = AgentMode::interactive;

  // The record at hand.
  JsonSlices record_;
  std::int64_t now_ms_ = 0;  // of the call
  std::int64_t at_ms_ = 0;   // of the record, by the agent's clock when it says
  int emitted_ = 0;          // events of this record
  std::string event_id_;     // store of a made-up event id
  std::string parent_call_;  // of records that do not say it themselves

  OpenCalls calls_;
  struct AgentTask {
    std::string what, name;  // "Sub-agent", "Count Python files"
  };
  std::map<std::string, AgentTask> tasks_;  // running ones, by the agent's id
  ClaudeUsage usage_;
  ClaudeTalk talk_;
  TextJoiner errors_;  // standard error
  std::string batch_;  // text format, or JSON that is not complete yet
  Hints hints_;
  std::string model_, cwd_, permission_mode_;
  std::string last_text_;           // the agent's newest words, which a result repeats
  std::string last_error_;          // reported in this turn
  std::string message_id_;          // being streamed; its end has its numbers
  std::int64_t usage_told_ms_ = 0;  // when usage was last reported, or the turn began
  std::string stderr_tail_;
  bool lives_ = false;           // a program that prints now: it says how a turn begins, which transcripts do not
  bool turn_announced_ = false;  // it runs by the word of a message that was taken up; no line of its own has come yet
  bool stopping_ = false;        // it was asked to end
  bool new_protocol_ = false;    // the agent lists its capabilities: priorities and lifecycles work
  struct Ending {
    bool good = false, aborted = false;
    std::string text;
  };
  std::optional<Ending> ending_;  // of the newest finished turn
};

}  // namespace shepherd
