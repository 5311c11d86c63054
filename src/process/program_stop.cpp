#include "process/program_stop.h"

#include "process/limits.h"
namespace shepherd {
namespace {

StopPlan at_once() {
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = std::chrono::milliseconds(0);
  plan.terminate_wait = kProgramStopWait;
  return plan;
}

}  // namespace

void ProgramStop::stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  if (running_ != nullptr) running_->stop(at_once());
}

bool ProgramStop::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

std::optional<AgentEnd> ProgramStop::end() const {
  MutexLock lock(mutex_);
  return end_;
}

StoppableProgram::StoppableProgram(ProgramStop* stop, AgentProcess& process) : stop_(stop) {
  if (stop_ == nullptr) return;
  MutexLock lock(stop_->mutex_);
  stop_->running_ = &process;
  if (stop_->stopped_) process.stop(at_once());
}

StoppableProgram::~StoppableProgram() {
  if (stop_ == nullptr) return;
  MutexLock lock(stop_->mutex_);
  stop_->running_ = nullptr;
}

bool StoppableProgram::was_stopped(const AgentEnd& end) {
  if (stop_ == nullptr) return false;
  MutexLock lock(stop_->mutex_);
  if (!stop_->stopped_) return false;
  stop_->end_ = end;
  return true;
}

}  // namespace shepherd
