#include "tools/shell_process.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "base/log.h"
#include "tools/built_in_tool.h"
#include "tools/limits.h"

namespace shepherd {
namespace {

StopPlan soon() {
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = std::chrono::milliseconds(0);
  plan.terminate_wait = kCommandStopWait;
  return plan;
}

std::string counted_processes(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "process" : "processes");
}

// Once, because it is the same for every command.
void warn_unless_confined(const AgentSpec& spec, const AgentProcess& process) {
  static std::atomic<bool> warned{false};
  if (process.confined() == spec.confinement.level || warned.exchange(true)) return;
  log_warn("chat: commands of tools are confined to level {}, not {}: {}", name(process.confined()),
           name(spec.confinement.level), process.why_not_better());
}

}  // namespace

ShellProcess::ShellProcess(AgentSpec spec, const Clock& clock, Executor& blocking, Drain::Pass pass,
                           std::move_only_function<void(ToolOutcome)> done)
    : spec_(std::move(spec)), clock_(clock), blocking_(blocking), pass_(std::move(pass)), done_(std::move(done)) {}

void ShellProcess::begin() {
  {
    MutexLock lock(mutex_);
    self_ = shared_from_this();
  }
  blocking_.post([this] { launch(); });
}

void ShellProcess::launch() {
  std::string cancelled;
  {
    MutexLock lock(mutex_);
    cancelled = why_;
  }
  if (!cancelled.empty()) return finish(failed_outcome(cancelled));
  auto started = AgentProcess::start(spec_, *this, clock_);
  if (!started) return finish(failed_outcome("the command cannot start: " + started.error().message + "."));
  warn_unless_confined(spec_, **started);
  bool ended = false;
  {
    MutexLock lock(mutex_);
    process_ = *std::move(started);
    ended = end_.has_value();
    if (!why_.empty()) process_->stop(soon());
  }
  if (ended) release();
}

void ShellProcess::stop(std::string why) {
  MutexLock lock(mutex_);
  if (!why_.empty() || end_) return;
  why_ = std::move(why);
  if (process_) process_->stop(soon());
}

std::string ShellProcess::last_line() const {
  MutexLock lock(mutex_);
  return output_.last_line();
}

void ShellProcess::on_output(AgentStream /*stream*/, std::string_view bytes) {
  MutexLock lock(mutex_);
  output_.add(bytes);
}

// Called by the process's own thread, which cannot wait for itself.
void ShellProcess::on_end(const AgentEnd& end) {
  bool launched = false;
  {
    MutexLock lock(mutex_);
    end_ = end;
    launched = process_ != nullptr;
  }
  // If launch() is still under way, it finds the end itself.
  if (launched) blocking_.post([this] { release(); });
}

void ShellProcess::release() {
  std::unique_ptr<AgentProcess> over;
  ToolOutcome outcome;
  {
    MutexLock lock(mutex_);
    over = std::move(process_);
    outcome = outcome_of(*end_);
  }
  over.reset();
  finish(std::move(outcome));
}

void ShellProcess::finish(ToolOutcome outcome) {
  std::shared_ptr<ShellProcess> self;
  {
    MutexLock lock(mutex_);
    self = std::move(self_);
  }
  std::exchange(done_, {})(std::move(outcome));
  std::optional<Drain::Pass> pass = std::move(pass_);
  pass_.reset();
  self.reset();  // it may end here, before the tool does
}

ToolOutcome ShellProcess::outcome_of(const AgentEnd& end) const {
  ToolOutcome outcome;
  std::string exit = end.exit.signal != 0 ? describe(end.exit) : fmt::format("exit code {}", end.exit.code);
  std::size_t processes = end.ended.size() + end.unlisted;
  outcome.content = output_.text();
  if (!outcome.content.empty() && !outcome.content.ends_with('\n')) outcome.content += '\n';
  if (why_.empty()) {
    outcome.success = end.exit.code == 0 && end.exit.signal == 0;
    outcome.content += fmt::format("[{}]", exit);
    if (processes > 1) {
      outcome.content += fmt::format("\n[It left {} running, which were ended.]", counted_processes(processes - 1));
    }
  } else {
    outcome.content += fmt::format("[{}]", why_);
    exit = why_;
  }
  outcome.summary = output_.bytes() == 0 ? exit : fmt::format("{}, {} bytes of output", exit, output_.bytes());
  outcome.proof = "ended: " + counted_processes(processes);
  if (!end.left.empty()) outcome.proof += ", left: " + counted_processes(end.left.size());
  return outcome;
}

}  // namespace shepherd
