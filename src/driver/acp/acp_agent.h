// The driver of every agent that speaks the Agent Client Protocol, version 1: JSON-RPC lines on standard input and
// output.
//
// The driver opens the session step by step (initialize, a new or an old session, its model and mode, the prompt): each
// answer of the agent brings the next request. One prompt is one turn; its answer ends the turn. What the agent asks of
// its machine becomes a HostCall, what it asks of a person an approval.
// Threads: caller.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/acp/calls.h"
#include "driver/acp/usage.h"
#include "driver/driver.h"
#include "driver/event_json.h"
#include "driver/pending.h"
#include "driver/text_joiner.h"
#include "json/slices.h"

namespace shepherd {

class AcpAgent final : public Driver {
 public:
  std::string_view name() const override { return "acp"; }
  std::vector<std::string> version_command(const std::string& program) const override;
  std::vector<std::string> state_paths(const Variable& variable) const override;
  // Launch::command, or Launch::program alone. An entry of Launch::options is an option of the agent's session
  // (session/set_config_option) by its id; `mode` is the agent's own mode.
  Result<LaunchPlan> launch(const Launch& launch) override;
  void record(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void tick(std::int64_t now_ms, Actions& out) override;
  void command(const Command& command, std::int64_t now_ms, Actions& out) override;
  void withdraw(std::string_view command_id) override;
  void answer(const HostAnswer& answer, std::int64_t now_ms, Actions& out) override;
  void leave(Actions& out) override;
  Verdict finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) override;
  Capabilities capabilities() const override;
  AgentTraits traits() const override;
  Hints hints() const override;

 private:
  // A request of ours that the agent has not answered.
  struct Sent {
    enum class What : std::uint8_t { initialize, open, load, setting, prompt, steer, close };
    What what = What::initialize;
    std::string command_id;  // whose words these are, or who wants the setting; empty: the launch
    std::string setting;     // its name and value, for people
    Command words;           // steer: to be said otherwise when the agent cannot take it up
  };
  struct Setting {
    std::string method, params, about;
    std::string command_id;
  };
  // What it asked a person.
  struct Ask {
    PendingAsk ask;
    std::string request_id;  // JSON
    std::string summary;
    bool form = false;  // elicitation: the answer has values
    bool elicited = false;
    std::string schema;  // of the form
    struct Option {
      std::string id, name, kind;
    };
    std::vector<Option> options;

    const Option* option(std::string_view kind, std::string_view name = {}) const;
    const Option* named(std::string_view wanted) const;  // by its id or its name
  };
  // What it asked of its machine.
  struct Hosted {
    enum class What : std::uint8_t { read, write, create, output, wait, kill, release };
    What what = What::read;
    std::string request_id;  // JSON
    std::string terminal;    // the terminal of the request; empty: none
  };
  // Words that come in pieces.
  struct Block {
    enum class Kind : std::uint8_t { message, thought, user };
    Kind kind = Kind::message;
    std::string id, text;
    std::int64_t since_ms = 0, changed_ms = 0;
  };

  // stream.cpp: one record
  void dispatch(Actions& out);
  void not_protocol(std::string_view line, Actions& out);
  void unknown(std::string_view what, Actions& out);
  EventParts step(EventType type);
  void emit(Actions& out, const EventParts& parts, Detail detail = {});
  void status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members = {});
  void note(Actions& out, std::string_view summary);  // a log event of the driver's own

  // session.cpp: from the start to the first prompt
  std::uint64_t send(std::string_view method, std::string_view params, Sent sent, Actions& out);
  void response(Actions& out);
  void initialized(const JsonNode& result, Actions& out);
  void open_session(Actions& out);
  void opened(const JsonNode& result, Actions& out);
  void tell_session(Actions& out);
  void take_settings(const JsonNode& result);
  void go_on(Actions& out);
  void failed_request(const Sent& sent, Actions& out);
  void login_required(std::string_view said, Actions& out);
  std::string error_words() const;
  bool wants_login() const;  // by the error at hand
  void fatal(std::string_view code, const std::string& message, Actions& out, std::string_view more = {});

  // settings.cpp: the agent's own modes, models and options
  void plan_settings(Actions& out);
  void plan_model(Actions& out);
  bool plan_option(std::string_view id, std::string_view value);
  void plan_mode(std::string_view mode);
  std::string asking_mode() const;  // to be entered so that the agent asks; empty: none, or it asks already
  void option_update(const JsonNode& update, Actions& out);

  // turns.cpp
  void prompt(std::string_view text, std::string command_id, Actions& out);
  void prompt_ended(const Sent& sent, const JsonNode& result, Actions& out);
  void prompt_failed(const Sent& sent, Actions& out);
  void end_turn(bool aborted, std::string_view outcome, Actions& out);
  void taken_up(Actions& out);
  void release_held(Actions& out);
  void tell_usage(Actions& out);
  std::optional<std::int64_t> usage_due_ms() const;

  // updates.cpp: session/update
  void update(Actions& out);
  void chunk(Block::Kind kind, const JsonNode& update, Actions& out);
  void close_block(Actions& out);
  void plan(const JsonNode& update, Actions& out);
  void commands_update(const JsonNode& update, Actions& out);
  void mode_update(std::string_view mode, Actions& out);
  void usage_update(const JsonNode& update, Actions& out);
  void session_info(const JsonNode& update, Actions& out);
  void notice(const JsonNode& update, Actions& out);
  void compaction(const JsonNode& update, Actions& out);

  // tool_calls.cpp
  void tool_call(const JsonNode& node, bool first_word, Actions& out);
  void tell_call(AcpCall& call, Actions& out);
  void tell_due_calls(Actions& out);
  void end_call(std::string_view agent_id, std::string_view why, Actions& out);
  void end_calls(std::string_view why, Actions& out);
  void settle_answer(std::string_view call_id, Actions& out);

  // asks.cpp: what it asks of a person
  void request(std::string_view method, Actions& out);
  void permission(Actions& out);
  void elicitation(Actions& out);
  void open_ask(Ask ask, const EventParts& about, std::string_view message, Actions& out);
  void decide_by_mode(const std::string& approval_id, Actions& out);
  void answer_approval(const Command& command, Actions& out);
  void answer_ask(const std::string& id, std::string_view state, std::string_view message, std::string_view result,
                  Actions& out);
  void cancel_asks(std::string_view why, Actions& out);
  void cancel_request(Actions& out);

  // host.cpp: what it asks of its machine
  bool host_request(std::string_view method, const JsonNode& params, Actions& out);
  std::optional<HostRequest> host_call(Hosted::What what, const JsonNode& params) const;
  void keep_output(const std::string& terminal, std::string_view output);
  std::string terminal_text(const AcpCall& call) const;

  // steering.cpp: what an operator asks of the agent
  bool in_turn() const { return hints_.turn == Hints::Turn::running || hints_.turn == Hints::Turn::waiting; }
  void say(const Command& command, std::string_view text, bool steer, Actions& out);
  void hold(const Command& command, std::string_view text, std::string_view why, Actions& out);
  void interrupt(Actions& out);
  void change_mode(const Command& command, Actions& out);

  // finish.cpp
  Verdict verdict(const ExitFacts& exit) const;
  void tell_failure(const Verdict& verdict, const ExitFacts& exit, Actions& out);

  Launch launched_;
  AgentMode mode_ = AgentMode::interactive;

  // The record at hand.
  JsonSlices record_;
  std::int64_t now_ms_ = 0;
  int emitted_ = 0;  // events of this record

  // What the agent said of itself.
  std::string agent_name_, agent_version_;
  struct Method {
    std::string name, description;
  };
  std::vector<Method> logins_;
  bool initialized_ = false;
  bool can_load_ = false, can_resume_ = false, can_close_ = false, can_steer_ = false;
  bool has_http_ = false, has_sse_ = false;
  struct Choice {
    std::string id, name;
  };
  struct Option {
    std::string id, name, category, current;
    bool flag = false;
    std::vector<Choice> choices;
  };
  std::vector<Option> options_;
  std::vector<Choice> modes_, models_;  // of agents that list them apart
  std::string agent_mode_, agent_model_, title_;
  struct AskedModel {
    std::string about, id;
  };
  AskedModel asked_model_;  // with session/set_model, whose answer does not name it
  bool commands_told_ = false;

  std::uint64_t next_request_ = 0;
  std::map<std::uint64_t, Sent> sent_;
  std::deque<Setting> settings_;  // to be asked for before the prompt
  bool open_ = false;             // there is a session
  bool prompted_ = false;
  bool replaying_ = false;  // what it says now it has said before
  bool login_ = false;      // it wants a login

  struct Held {
    Command command;
    std::string text;
  };
  std::deque<Held> held_;   // for the next turn
  std::string interrupts_;  // the command that interrupts the turn
  bool cancelling_ = false;
  std::string stop_;  // the command that stops it

  std::map<std::string, Ask, std::less<>> asks_;
  std::map<std::string, std::string, std::less<>> decisions_;  // agent's call id -> command
  std::uint64_t next_ask_ = 1, next_host_call_ = 1;
  std::map<std::string, Hosted, std::less<>> hosted_;
  std::map<std::string, std::string, std::less<>>
      terminals_;  // what their commands printed, as far as it was asked for

  AcpCalls calls_;
  AcpUsage usage_;
  std::optional<Block> block_;
  std::uint64_t blocks_ = 0;
  TextJoiner errors_;
  std::string stderr_tail_;
  Hints hints_;
  std::int64_t usage_told_ms_ = 0;
  std::string last_text_;
  bool stopping_ = false;
  bool told_failure_ = false;  // of the newest turn, or of the session
  struct Ending {
    bool good = false, aborted = false;
    std::string text;
  };
  std::optional<Ending> ending_;
};

}  // namespace shepherd
