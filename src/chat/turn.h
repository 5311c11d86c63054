// One turn of a chat session: a prompt, model calls and tools until the model has answered.
//
// It makes room in the context before each call, starts the model while the prompt is committed, and shows no text
// before that commit. A tool runs after its call is in the log, so that a restart knows what may have happened. Every
// end, good or bad, is an event with `final`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/code_fences.h"
#include "chat/context_plan.h"
#include "chat/limits.h"
#include "chat/session_log.h"
#include "llm/model.h"
#include "llm/model_config.h"
#include "redact/eager_redactor.h"
#include "tools/toolbox.h"

namespace shepherd {

struct ChatConfig {
  std::string system;                            // told to every session; may be empty
  std::int64_t max_tokens = 0;                   // of requests that do not say: 0 a share, -1 all, or a number
  std::int64_t max_turn_steps = kMaxTurnSteps;   // model calls in one turn
  std::int64_t parallel_turns = kParallelTurns;  // of all sessions
  bool code_blocks = true;                       // live text of code is marked as such
  bool show_reasoning = false;                   // live text of reasoning is passed on
  bool log_api_calls = false;                    // stateless calls are tasks, too
  std::vector<std::string> allow;  // rules of tools that need no approval: "run_command(git)", "write_file"
};

// What turns use; all of it outlives them.
struct TurnParts {
  const ChatConfig& config;
  Model& model;
  Toolbox* tools = nullptr;  // nullptr: none
  std::function<ModelPrice(const std::string& backend)> price;
  std::vector<std::string> offered;  // names of tools that this session may use; empty: all
  // A turn that waits for a person needs no place among those that run: true as it begins to wait, then false.
  std::function<void(bool)> waits_for_person;
};

// The tools that this session may use, as they are now.
std::vector<Tool> offered_tools(const TurnParts& parts);

struct Prompt {
  std::string text;
  std::int64_t max_tokens = 0;
  std::string by;          // the person
  std::string command_id;  // of the command that it came as; empty: a request
};

struct TurnEnd {
  Result<std::string> response;  // the final text
  std::uint64_t sequence = 0;    // of the turn's last event
};

// Owned by its session. The functions given to it are called on the loop, and may destroy it.
// Threads: strand (the loop).
class ChatTurn final : private ModelObserver {
 public:
  using Done = std::move_only_function<void(TurnEnd)>;
  // `begun` gets the number of the prompt's event once it is committed.
  ChatTurn(TurnParts parts, std::shared_ptr<SessionLog> log, Prompt prompt, std::function<void(std::uint64_t)> begun,
           Done done);
  ~ChatTurn() override;

  void begin();
  // Ends the model's call or the tool; what the model has said so far stays.
  void cancel(std::string_view reason);
  void end(Error why);  // for a cause of its own: the server stops
  // A word of an operator: the model gets it before its next call.
  void steer(Prompt word);
  // False if this approval is not open.
  bool answer(const Command& command);

  std::int64_t began_ms() const { return began_ms_; }               // steady; of its first event
  std::uint64_t first_sequence() const { return first_sequence_; }  // 0: not committed yet
  const Prompt& prompt() const { return prompt_; }
  const std::string& shown() const { return shown_; }  // of what the model has said in its call, so far
  const std::string& shown_reasoning() const { return shown_reasoning_; }
  std::string block() const;  // of the live text of its call

 private:
  void on_text(std::string_view piece) override;
  void on_reasoning(std::string_view piece) override;
  void on_retry(std::string_view why) override;
  void on_end(Result<ModelAnswer> answer) override;

  ModelRequest request() const;
  std::int64_t known_prompt_tokens() const;
  std::int64_t tokens_before() const;
  void plan();
  void counted(Result<std::int64_t> tokens);
  void make_room(std::int64_t prompt_tokens, bool exact);
  void commit_prompt(std::int64_t tokens, bool exact);
  void committed(Result<std::uint64_t> first);
  void call_model(std::int64_t prompt_tokens);
  void show(std::string_view kind, std::string_view text);
  void show_text(std::string_view text);
  void show_reasoning(std::string_view text);
  void flush_live();
  void take_answer();
  void refuse_prompt(const Error& error);
  void write_eviction();
  std::size_t turn_begin() const;
  void answered(ModelAnswer answer);
  void next_tool();
  void ask_or_run(const ToolRequest& call);
  void run_tool();
  void tool_ended(ToolOutcome outcome, bool denied = false);
  void write_result(ToolOutcome outcome, ModelMessage message, bool denied, std::optional<std::int64_t> tokens);
  void refuse_tool(std::string content);
  void take_words();
  void open_approval(const std::string& id);  // empty: none is open any more
  void fail_turn(Error error, std::string_view code);
  void finish(TurnEnd end);
  bool allowed(const ToolRequest& call) const;
  ChatEvent usage_after(const ModelAnswer& answer, bool final);
  std::optional<ChatEvent> usage_of_lost_call();
  std::vector<ChatEvent> closing_events(std::string_view why);

  const TurnParts parts_;
  const std::shared_ptr<SessionLog> log_;
  Prompt prompt_;
  std::string told_prompt_;  // before redaction, for the model
  std::function<void(std::uint64_t)> begun_;
  Done done_;
  std::shared_ptr<ChatTurn*> alive_;  // null inside once this is gone

  std::int64_t began_ms_ = 0;
  std::uint64_t first_sequence_ = 0;
  bool prompt_written_ = false;  // its append is under way or done
  bool prompt_committed_ = false;
  bool over_ = false;
  std::int64_t steps_ = 0;
  int evictions_ = 0, overflows_ = 0;
  std::optional<double> turn_cost_ = 0;  // of its calls so far; empty: a price is not known
  Eviction evicted_;                     // to be written with the prompt, or when the model answers without them

  std::unique_ptr<ModelCall> call_, count_;
  std::optional<Result<ModelAnswer>> ended_;                 // waits for the prompt's commit
  std::string said_, thought_;                               // by the model in this call, for a partial answer
  std::string shown_, shown_reasoning_;                      // of them, redacted
  std::optional<EagerRedactor> live_text_, live_reasoning_;  // empty: redaction is off
  CodeFences fences_;
  std::vector<std::pair<std::string, std::string>> waiting_live_;  // kind, text: until the prompt is committed
  std::size_t waiting_live_bytes_ = 0;

  bool lost_call_ = false;         // the model's last call began to answer and has no usage
  std::deque<ToolRequest> calls_;  // to be run, as the model wrote them; the first one is active
  std::unique_ptr<ToolRun> run_;
  std::int64_t tool_began_ms_ = 0;
  bool tool_logged_ = false;  // the active call's event is committed or on its way
  std::string open_approval_;
  std::deque<Prompt> words_;
};

}  // namespace shepherd
