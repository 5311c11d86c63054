// One agent from its start to its end: the link to it, its driver, and its commands.
//
// The agent's output becomes events, operators' commands become bytes for the agent, and the log records their outcome.
// run() starts the agent again if its driver asks for that: its program did not know how it was started.
//
// The run ends the agent, by the ladder of agent_link.h, on request, when its time or budget is over, and when it keeps
// running although its work is done. A silent agent is reported, not ended.
#pragma once

#include <deque>
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
#include "process/program_stop.h"
#include "runner/agent_settings.h"
#include "runner/host_calls.h"
#include "runner/open_link.h"
#include "runner/step.h"
#include "runner/task_events.h"
#include "runner/task_order.h"
#include "runner/usage_cost.h"

namespace shepherd {

struct AgentOutcome {
  State state = State::failed;
  std::string message;
  EndCause cause = EndCause::none;
  std::optional<AgentEnd> end;  // nullopt if it never ran
  LaunchOptions options = {};   // of its last start
};

// Threads: run() from one, once; the others from any.
class AgentRun final : public Step, private AgentObserver {
 public:
  // The order, events and clock must outlive it.
  AgentRun(const TaskOrder& order, TaskEvents& events, const Clock& clock);
  ~AgentRun() override;

  // Blocks until no process of the agent is left. If it could not be started, the outcome has the reason.
  AgentOutcome run(AgentSettings settings) EXCLUDES(mutex_);

  // Settles the command in the log. What can wait is held until the agent runs; other commands before the start or
  // after the end are refused, except for a stop.
  void command(const Command& command) override EXCLUDES(mutex_);
  void withdraw(const std::string& command_id) override EXCLUDES(mutex_);
  void end(EndCause cause, std::string message) override EXCLUDES(mutex_);
  void kill() override EXCLUDES(mutex_);
  // Stops the work before the agent's start from the moment when the agent must end.
  ProgramStop& preparation() { return preparation_; }
  // Call it instead of run() if the preparation failed: because it was stopped, or for this reason.
  AgentOutcome never_started(const std::string& why) EXCLUDES(mutex_);

  bool can(CommandKind kind) const EXCLUDES(mutex_);
  Hints hints() const EXCLUDES(mutex_);

 private:
  struct Start {
    std::optional<Verdict::Retry> retry;
    AgentOutcome outcome;
  };

  void on_output(AgentStream stream, std::string_view bytes) override EXCLUDES(mutex_);
  void on_record(std::string_view record) override EXCLUDES(mutex_);
  void on_end(const AgentEnd& end) override EXCLUDES(mutex_);

  Start run_once(const LaunchOptions& options, int number) EXCLUDES(mutex_);
  // Makes the driver and its plan, opens the link without the lock, and begins.
  Result<void> start(const LaunchOptions& options, int number) EXCLUDES(mutex_);
  Result<LinkRequest> plan_start(const LaunchOptions& options, int number) EXCLUDES(mutex_);
  Result<void> begin(const LaunchPlan& plan, OpenedLink& opened) REQUIRES(mutex_);
  void wait_for_link() REQUIRES(mutex_);
  // Does what the agent asks of its machine, from the moment when it runs.
  void begin_host(Result<HostFiles> files, Result<AgentSpec> beside) REQUIRES(mutex_);
  // Called by host_'s own threads. Waits while the agent does not read what it is given.
  void give_answer(const HostAnswer& answer) EXCLUDES(mutex_);
  // Ends what the agent had started, too, and adds that to its end.
  void end_host(AgentEnd& end) EXCLUDES(mutex_);
  void finish() REQUIRES(mutex_);
  void tell_going_on() REQUIRES(mutex_);
  AgentEnd wait_for_end() EXCLUDES(mutex_);
  void take_line(AgentStream stream, const Line& line) REQUIRES(mutex_);
  void flush() REQUIRES(mutex_);
  void carry_out(Action& action, Result<void>& written) REQUIRES(mutex_);
  void tell_unkept_budget(const Hints& hints) REQUIRES(mutex_);
  Hints hints_now() const REQUIRES(mutex_);
  void look() REQUIRES(mutex_);
  void look_at_turn(const Hints& hints) REQUIRES(mutex_);
  void look_for_stall(const Hints& hints) REQUIRES(mutex_);
  void close_input() REQUIRES(mutex_);
  void begin_end(const Command& stop) REQUIRES(mutex_);
  void set_cause(EndCause cause, std::string message) REQUIRES(mutex_);
  void tell_start(const LaunchPlan& plan, const OpenedLink& opened) REQUIRES(mutex_);
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
  std::unique_ptr<HostCalls> host_ GUARDED_BY(mutex_);  // of a program
  bool answering_ GUARDED_BY(mutex_) = false;           // it runs, so its requests are answered
  LineSplitter out_lines_ GUARDED_BY(mutex_), err_lines_ GUARDED_BY(mutex_);
  Actions output_ GUARDED_BY(mutex_);
  UsageCosts costs_ GUARDED_BY(mutex_){PriceTable{}};
  EndCause cause_ GUARDED_BY(mutex_) = EndCause::none;
  std::string cause_message_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
  std::deque<Command> held_ GUARDED_BY(mutex_);  // for an agent that does not run yet
  bool opening_ GUARDED_BY(mutex_) = false;      // the link is being opened, without the lock
  bool killed_ GUARDED_BY(mutex_) = false;
  bool finished_ GUARDED_BY(mutex_) = false;  // run() has ended or is about to
  bool input_closed_ GUARDED_BY(mutex_) = false;
  bool stalled_ GUARDED_BY(mutex_) = false;
  bool budget_doubt_told_ GUARDED_BY(mutex_) = false;
  std::int64_t started_ms_ GUARDED_BY(mutex_) = 0;     // steady, like all below; 0 before the start
  std::int64_t idle_since_ms_ GUARDED_BY(mutex_) = 0;  // its turn is over
  std::int64_t told_to_go_ms_ GUARDED_BY(mutex_) = 0;  // its input was closed after its work
  std::int64_t sleeping_until_ms_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
