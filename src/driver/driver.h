// A driver knows one agent's dialect: how to start it, what its lines mean, how a command is said to it.
//
// Records and commands in, actions out (actions.h). A driver does no I/O, has no clock and no threads, so a recorded
// transcript is its test, and the runner, `translate`, importers and other links use it alike.
//
// The order of calls: launch (not needed to translate a recording), then record, stderr_line, command and tick in any
// order, finish last. Nothing an agent prints is an error: what a driver does not know becomes a `log` event with the
// raw record beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "driver/actions.h"
#include "driver/agent_traits.h"
#include "model/command.h"
#include "model/task.h"

namespace shepherd {

// What a driver's own settings are called is its own matter: `claude/launch_options.h` for Claude Code.
using LaunchOptions = std::map<std::string, std::string, std::less<>>;

// What is to be started.
struct Launch {
  std::string id;                          // unique per start: makes the driver's own message ids unique
  std::string task;                        // the task that it works on
  std::string program;                     // path or name of the agent program; empty: the driver's usual one
  std::string version;                     // what the program says of itself; empty: unknown
  std::vector<std::string> command;        // the program and its own arguments; empty: the program alone
  std::string prompt;                      // what to do
  std::string context;                     // what to know; may be large
  std::string repo_url, repo_ref;          // of the task, for agents that fetch it themselves; empty: none
  std::string rules;                       // what every agent of this runner is told; empty: nothing
  std::string model;                       // empty: the agent's own choice
  std::int64_t max_turns = 0;              // 0: no bound
  double budget_usd = 0;                   // 0: no bound
  std::vector<std::string> allowed_tools;  // empty: see mode
  std::string mcp_servers_json;            // empty: none
  AgentMode mode = AgentMode::interactive;
  std::string resume_session;  // the agent's own session id; empty: a new one
  LaunchOptions options;       // the driver's own
  bool deltas = false;         // text while it is being written, for live watchers
  std::string directory;       // where the agent works, absolute; empty: not known

  // The words that start the agent: `command`, or `program` or `usual` alone. The driver's own arguments come after
  // them.
  std::vector<std::string> words(std::string_view usual) const;
};

struct EnvironmentEntry {
  std::string name, value;
};

// A program. The runner adds its own environment (SHEPHERD_TASK_ID) and work directory.
struct ProgramLaunch {
  std::vector<std::string> argv;
  std::vector<EnvironmentEntry> environment;  // added to what the agent gets
};
// A service with a method that streams messages both ways.
struct GrpcLaunch {
  std::string method;  // "/package.Service/Method"
};
// A program that is a service: it takes requests and answers with a stream of events (driver/http_envelope.h).
struct HttpLaunch {
  ProgramLaunch program;
  std::string ready;                    // it prints this, and then its address, when it can be called
  std::string user, password_variable;  // how it is protected: the runner makes the password
  std::string events;                   // path of the stream
  std::string heartbeat;                // an event with this text only says that the stream lives; empty: there is none
};

// How to start it. Records of a service and what is written to it are whole messages (record_frames.h).
struct LaunchPlan {
  std::variant<ProgramLaunch, GrpcLaunch, HttpLaunch> way;
  std::string input;             // written at once
  bool keep_input_open = false;  // false: closed after `input`
  std::string remark;            // for the log: what was asked for and cannot be had; empty: nothing

  // The program that is started here; nullptr: none is.
  const ProgramLaunch* program() const {
    const auto* service = std::get_if<HttpLaunch>(&way);
    return service != nullptr ? &service->program : std::get_if<ProgramLaunch>(&way);
  }
};

// How the agent's process ended, or the call of a service.
struct ExitFacts {
  int code = 0;              // when signal is 0; of a call: its gRPC status
  int signal = 0;            // what killed it
  bool by_runner = false;    // the runner made it end: this is no word of the agent's own
  std::string message = {};  // of a call: what the status says

  bool good() const { return by_runner || (code == 0 && signal == 0); }
};
// What became of it, after its name: "ended with exit code 3", "crashed (SIGSEGV)", "was killed from outside
// (SIGKILL)", "was ended by the runner (SIGKILL)".
std::string how_it_ended(const ExitFacts& exit);

// What the driver makes of the whole run: exit codes alone do not tell a good run from an interrupted one.
struct Verdict {
  State state = State::completed;  // completed, failed, or cancelled when the agent itself says it was interrupted
  std::string message;             // the agent's last word, or why it failed
  // The program did nothing, because it did not know how it was started. Start it again with these options.
  struct Retry {
    LaunchOptions options;
    std::string why;  // for the log
  };
  std::optional<Retry> retry;
};

// What may be asked of this agent as it was started. Known before the first command.
struct Capabilities {
  std::uint32_t commands = 0;      // bit per CommandKind
  std::uint32_t acknowledges = 0;  // kinds whose acknowledgement can be observed; others settle as delivered
  bool approvals = false;          // asks an operator before it uses a tool
  bool deltas = false;
  bool cost = false;              // reports what it costs
  bool resumes_sessions = false;  // Launch::resume_session works

  bool can(CommandKind kind) const { return (commands >> static_cast<unsigned>(kind) & 1U) != 0; }
};
std::string encode_capabilities(const Capabilities& capabilities);  // the `capabilities` of a task

// What the runner decides by. `idle` after a turn means: close the input to end, or wait for an operator.
struct Hints {
  enum class Turn : std::uint8_t { none, running, waiting, idle };  // waiting: an operator must answer first
  Turn turn = Turn::none;
  bool interrupted = false;          // idle because an operator stopped the turn
  std::size_t open_words = 0;        // messages given to the agent or held for it, whose turn is not over
  std::size_t queued_words = 0;      // of them, those the agent said it will take up later
  std::size_t background_tasks = 0;  // work the agent left running beside its turns
  std::size_t turns = 0;             // finished ones
  std::string session_id;
  std::optional<double> cost_usd;          // the agent's own total of this session so far
  std::optional<std::int64_t> tick_at_ms;  // when tick() has something to do
  std::uint64_t records = 0;               // lines seen
  std::uint64_t passed_over = 0;           // of them, known ones that are no event
};

// Threads: caller.
class Driver {
 public:
  Driver() = default;
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  virtual std::string_view name() const = 0;

  // The command that makes the program (empty: the usual one) say its version; empty: it has none that matters.
  virtual std::vector<std::string> version_command(const std::string& program) const;

  // Directories with what its program keeps of itself (sessions, settings), by the variables of its environment.
  using Variable = std::function<std::string(std::string_view name)>;
  virtual std::vector<std::string> state_paths(const Variable& /*variable*/) const { return {}; }

  // invalid_argument when the agent cannot be asked for this (a value that would read as an option, no prompt).
  virtual Result<LaunchPlan> launch(const Launch& launch) = 0;

  // One line the agent printed, without its newline, valid UTF-8 (LineSplitter); of a service: one message. Times are
  // wall milliseconds.
  virtual void record(std::string_view line, std::int64_t now_ms, Actions& out) = 0;
  virtual void stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) = 0;
  // Time has passed: see Hints::tick_at_ms.
  virtual void tick(std::int64_t now_ms, Actions& out) = 0;
  // Always settles at least as delivered or refused within this call, or says `accepted` and waits for the end of a
  // turn (queue): what a driver holds no longer expires.
  virtual void command(const Command& command, std::int64_t now_ms, Actions& out) = 0;
  // It has expired all the same, because the driver's word came too late: if it is still held, it is forgotten.
  virtual void withdraw(std::string_view /*command_id*/) {}
  // The answer to a HostCall; every call gets one while the agent runs.
  virtual void answer(const HostAnswer& /*answer*/, std::int64_t /*now_ms*/, Actions& /*out*/) {}
  // Its work is done and its input is about to be closed: what is said to it last.
  virtual void leave(Actions& /*out*/) {}
  // The agent is gone and all its output was given. Settles what is open.
  virtual Verdict finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) = 0;

  virtual Capabilities capabilities() const = 0;
  virtual AgentTraits traits() const = 0;
  virtual Hints hints() const = 0;
};

}  // namespace shepherd
