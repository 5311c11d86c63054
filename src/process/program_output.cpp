#include "process/program_output.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "process/limits.h"

namespace shepherd {
namespace {

// Read only after the end, so it needs no lock.
class Collected final : public AgentObserver {
 public:
  void on_output(AgentStream stream, std::string_view bytes) override {
    std::string& into = stream == AgentStream::out ? output.out : output.err;
    into.append(bytes.substr(0, std::min(bytes.size(), kMaxProgramOutputBytes - into.size())));
  }
  void on_end(const AgentEnd& end) override { output.exit = end.exit; }

  ProgramOutput output;
};

}  // namespace

Result<ProgramOutput> run_program(const AgentSpec& spec, std::chrono::milliseconds timeout, const Clock& clock,
                                  ProgramStop* stop) {
  auto stopped = [&spec] {
    return fail(ErrorCode::gone, "program_stopped", spec.command.front() + " was stopped before it was done");
  };
  if (stop != nullptr && stop->stopped()) return stopped();
  Collected collected;
  Result<std::unique_ptr<AgentProcess>> process = AgentProcess::start(spec, collected, clock);
  if (!process) return fail(std::move(process.error()));
  (*process)->close_input();
  std::optional<AgentEnd> end;
  {
    StoppableProgram stoppable(stop, **process);
    end = (*process)->wait(timeout);
    if (end && stoppable.was_stopped(*end)) return stopped();
  }
  if (!end) {
    (*process)->kill();
    process->reset();
    return fail(ErrorCode::unavailable, "program_timeout",
                spec.command.front() + " took longer than " + std::to_string(timeout.count() / 1'000) + " s");
  }
  process->reset();
  return std::move(collected.output);
}

}  // namespace shepherd
