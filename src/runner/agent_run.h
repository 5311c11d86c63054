// One agent from its start to its end: the link to it, the driver that understands it, and the commands for it.
//
// What the agent prints becomes events, what operators ask becomes bytes for the agent, and what became of it is told
// in the log. run() starts the agent again in a simpler format when its program did not know the one it was given.
//
// The agent is ended, by the ladder of agent_link.h, when an operator or the server asks for it, when its time or its
// budget is over, and when it does not go although its work is done. One that is silent is reported, not ended.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "driver/driver.h"
#include "driver/line_splitter.h"
#include "process/agent_link.h"
#include "process/confinement.h"
#include "process/program_stop.h"
#include "runner/limits.h"
#include "runner/remote_agent.h"
#include "runner/task_events.h"
#include "runner/task_order.h"

namespace shepherd {

struct AgentSettings {
  std::string directory;                 // where it works
  std::vector<std::string> environment;  // NAME=value; the driver's own are added
  std::string driver;                    // that knows it; empty: the one that is called as the task calls its agent
  std::string program;                   // empty: the driver's usual one
  std::string version;                   // what that program says of itself; empty: unknown
  std::string rules;                     // what every agent here is told; empty: nothing
  OutputFormat format = OutputFormat::bidirectional;
  bool deltas = true;
  bool keep_open = false;  // when its turn is over, wait for an operator instead of ending it
  StopPlan ladder;         // without `interrupt`, which is the driver's
  std::chrono::milliseconds stall = kStallSilence;
  std::chrono::milliseconds end_wait = kAgentEndWait;  // for one whose work is done to go by itself
  std::string warden_program = "/proc/self/exe";
  Confinement confinement;
  std::optional<RemoteAgent> remote;  // for drivers whose agents are services
};

// Why an agent was ended from outside.
enum class EndCause : std::uint8_t { none, stopped, timed_out, over_budget, lease_lost, deleted, shutdown };

struct AgentOutcome {
  State state = State::failed;
  std::string message;
  EndCause cause = EndCause::none;
  std::optional<AgentEnd> end;  // nullopt: it never ran
};

// Threads: run() from one, once; the others from any.
class AgentRun final : private AgentObserver {
 public:
  // The order, events and clock must outlive it.
  AgentRun(const TaskOrder& order, TaskEvents& events, const Clock& clock);
  ~AgentRun() override;

  // Blocks until no process of the agent is left. Also when it could not be started: the outcome says why.
  AgentOutcome run(AgentSettings settings) EXCLUDES(mutex_);

  // Settles the command in the log. One that comes before the start or after the end is refused, but for a stop.
  void command(const Command& command) EXCLUDES(mutex_);
  // The log says that it has expired: if the driver still holds it, the agent must not get it.
  void withdraw(const std::string& command_id) EXCLUDES(mutex_);
  // Ends the agent; before its start, it does not start. The first cause counts.
  void end(EndCause cause, std::string message) EXCLUDES(mutex_);
  // The last rung of the ladder at once.
  void kill() EXCLUDES(mutex_);
  // For what is done before the agent starts: stopped when the agent is to end, from then on.
  ProgramStop& preparation() { return preparation_; }
  // Instead of run(), when the preparation failed: because it was stopped, or for this reason.
  AgentOutcome never_started(const std::string& why) EXCLUDES(mutex_);

  bool can(CommandKind kind) const EXCLUDES(mutex_);
  Hints hints() const EXCLUDES(mutex_);

 private:
  struct Start {
    std::optional<OutputFormat> retry_with;
    AgentOutcome outcome;
    std::string unknown_option;  // with retry_with; empty: the format was
  };

  void on_output(AgentStream stream, std::string_view bytes) override EXCLUDES(mutex_);
  void on_record(std::string_view record) override EXCLUDES(mutex_);
  void on_end(const AgentEnd& end) override EXCLUDES(mutex_);

  Start run_once(OutputFormat format, int number) EXCLUDES(mutex_);
  Result<void> start(OutputFormat format, int number) REQUIRES(mutex_);
  Result<std::unique_ptr<AgentLink>> open_link(const LaunchPlan& plan) REQUIRES(mutex_);
  void tell_going_on() REQUIRES(mutex_);
  AgentEnd wait_for_end() EXCLUDES(mutex_);
  void take_line(AgentStream stream, const Line& line) REQUIRES(mutex_);
  void flush() REQUIRES(mutex_);
  void look() REQUIRES(mutex_);
  void look_at_turn(const Hints& hints) REQUIRES(mutex_);
  void look_for_stall(const Hints& hints) REQUIRES(mutex_);
  void close_input() REQUIRES(mutex_);
  void begin_end(const Command& stop) REQUIRES(mutex_);
  void set_cause(EndCause cause, std::string message) REQUIRES(mutex_);
  void tell_start(const LaunchPlan& plan, OutputFormat asked) REQUIRES(mutex_);
  void tell_forced_end(const AgentEnd& end) REQUIRES(mutex_);
  std::int64_t next_look_ms() const REQUIRES(mutex_);
  AgentOutcome judged(const Verdict& verdict, AgentEnd end) const REQUIRES(mutex_);

  const TaskOrder& order_;
  TaskEvents& events_;
  const Clock& clock_;
  ProgramStop preparation_;

  mutable Mutex mutex_;
  CondVar changed_;
  AgentSettings settings_ GUARDED_BY(mutex_);
  std::unique_ptr<Driver> driver_ GUARDED_BY(mutex_);
  std::unique_ptr<AgentLink> link_ GUARDED_BY(mutex_);  // while it runs
  LineSplitter out_lines_ GUARDED_BY(mutex_), err_lines_ GUARDED_BY(mutex_);
  DriverOutput output_ GUARDED_BY(mutex_);
  EndCause cause_ GUARDED_BY(mutex_) = EndCause::none;
  std::string cause_message_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
  ConfineLevel confined_ GUARDED_BY(mutex_) = ConfineLevel::none;
  std::vector<std::string> without_ GUARDED_BY(mutex_);  // options that the program does not know
  bool finished_ GUARDED_BY(mutex_) = false;             // run() is over or about to be
  bool input_closed_ GUARDED_BY(mutex_) = false;
  bool stalled_ GUARDED_BY(mutex_) = false;
  std::int64_t started_ms_ GUARDED_BY(mutex_) = 0;     // steady, as all below; 0: not yet
  std::int64_t idle_since_ms_ GUARDED_BY(mutex_) = 0;  // its turn is over
  std::int64_t told_to_go_ms_ GUARDED_BY(mutex_) = 0;  // its input was closed after its work
  std::int64_t sleeping_until_ms_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
