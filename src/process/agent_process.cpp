#include "process/agent_process.h"

#include <sys/eventfd.h>

#include <utility>

#include "process/agent_loop.h"

namespace shepherd {

Result<std::unique_ptr<AgentProcess>> AgentProcess::start(const AgentSpec& spec, AgentObserver& listener,
                                                          const Clock& clock) {
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail(ErrorCode::unavailable, "cannot_start", "no descriptor is left for another agent");
  auto launched = launch_agent(spec);
  if (!launched) return fail(std::move(launched.error()));
  ConfineLevel confined = launched->confined;
  ConfineMeans by = launched->means;
  std::string why = std::move(launched->why_not_better);
  auto loop = std::make_unique<Loop>(std::move(*launched), std::move(wake), spec.with_stdin, listener, clock);
  return std::unique_ptr<AgentProcess>(new AgentProcess(std::move(loop), confined, by, std::move(why)));
}

AgentProcess::AgentProcess(std::unique_ptr<Loop> loop, ConfineLevel confined, ConfineMeans by,
                           std::string why_not_better)
    : loop_(std::move(loop)), confined_(confined), confined_by_(by), why_not_better_(std::move(why_not_better)) {}
AgentProcess::~AgentProcess() = default;

pid_t AgentProcess::pid() const {
  return loop_->pid();
}
Result<void> AgentProcess::write(std::string_view bytes) {
  return loop_->write(bytes);
}
void AgentProcess::close_input() {
  loop_->close_stdin();
}
void AgentProcess::pause() {
  loop_->ask_pause(true);
}
void AgentProcess::resume() {
  loop_->ask_pause(false);
}
void AgentProcess::stop(StopPlan plan) {
  loop_->ask_stop(std::move(plan));
}
void AgentProcess::kill() {
  loop_->ask_kill();
}
std::optional<AgentEnd> AgentProcess::wait(std::chrono::milliseconds timeout) {
  return loop_->wait(timeout);
}
std::int64_t AgentProcess::last_output_ms() const {
  return loop_->last_output_ms();
}
AgentUsage AgentProcess::usage() const {
  return loop_->usage();
}

}  // namespace shepherd
