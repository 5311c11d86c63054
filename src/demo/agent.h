// An agent without a model: takes messages, answers control requests, and performs the steps of its script turn by
// turn.
//
// A turn starts with a message and runs steps up to `{"end":"turn"}` or the end of the script; an interrupt drops the
// remaining steps. Like the real program, the agent reads a message that arrives during a turn after the next tool
// call. If it has no steps left, it repeats a message that is not a script: "You said: …".
// Threads: caller.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "demo/input.h"
#include "demo/options.h"
#include "demo/script.h"
#include "demo/voice.h"

namespace scripted {

class Agent {
 public:
  Agent(const Options& options, Script script);
  virtual ~Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  // Returns the exit code.
  int run();

 protected:
  // Performs a step that only a test's agent supports; false if it does not support it.
  virtual bool perform_more(const json::object&) { return false; }
  // Called at the start of every process of the agent.
  virtual void process_began() {}

  struct Message {
    json::value content;
    std::string text, uuid, priority;
  };
  // The answer to a tool that needed permission.
  struct Permission {
    bool allowed = true;
    json::object input = {};
    std::string message = {};
    bool asked = false;
  };
  // The result of a tool that really runs a command.
  struct Command {
    std::string output;
    int status = 0;
  };
  struct Background {
    std::string id, call, description;
    std::int64_t ends_ns = 0;
  };

  // agent.cpp: turns.
  void turn(std::optional<Message> message);
  void begin(const Message& message);
  void perform_all(Steps& steps);
  void perform(const json::object& step);
  void take_up_messages();
  void react(const Message& message, std::string_view words);
  void end_turn();
  bool over() const { return interrupted_ || ending_.failed || limit_reached(); }
  bool limit_reached() const;

  // agent_input.cpp: input.
  void pump(std::int64_t until_ns, bool listen = true);
  void handle(const Input::Arrival& arrival);
  void handle_line(std::string_view line);
  void user_message(const json::object& line);
  void control_request(const json::object& line);
  void interrupt(std::string_view request_id, bool cancel_queued);
  [[noreturn]] void leave(int code);
  bool ignores(std::string_view what) const { return ignored_.contains(what); }

  // agent_tools.cpp: calls, questions, sub-agents.
  void call_tool(const json::object& step);
  void ask_question(const json::object& step);
  void sub_agent(const json::object& step);
  void start_background(const json::object& step);
  bool end_background();
  Permission permission(std::string_view tool, const json::object& input, std::string_view call);
  bool allowed_beforehand(std::string_view tool, const json::object& input) const;
  void remember(const json::object& response);
  void refused(std::string_view tool, const json::object& input, std::string_view call, const Permission& said);
  Command run_command(const std::string& command);
  void interrupted_call(std::string_view call, bool ran);

  Options options_;
  Steps steps_;
  Input input_;
  Voice voice_;
  std::deque<Message> waiting_;
  std::vector<std::string> taken_;  // ids of this turn's messages
  std::map<std::string, std::optional<json::object>> asked_;
  std::set<std::string, std::less<>> ignored_;
  std::vector<json::object> rules_;
  std::vector<Background> background_;
  Ending ending_;
  bool in_turn_ = false, interrupted_ = false, in_tool_ = false, input_ended_ = false, told_of_limit_ = false;
  bool session_states_ = false;
  bool leave_after_turn_ = false;
  pid_t running_ = 0;  // pid of a tool's command
};

}  // namespace scripted
