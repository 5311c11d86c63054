#include "process/agent_end.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <string_view>

namespace shepherd {

std::string describe(const AgentExit& exit) {
  if (exit.signal == 0) return "exit " + std::to_string(exit.code);
  const char* abbreviation = ::sigabbrev_np(exit.signal);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(exit.signal);
}

AgentExit exit_of_status(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

bool AgentEnd::by_ladder() const {
  if (rung < StopRung::close) return false;
  return exit.signal == 0 || exit.signal == SIGINT || (exit.signal == SIGTERM && rung >= StopRung::terminate) ||
         (exit.signal == SIGKILL && rung == StopRung::kill);
}

std::string_view AgentEnd::stopped_by() const {
  switch (rung) {
    case StopRung::none:
      return "none";
    case StopRung::interrupt:
      return "interrupt";
    case StopRung::close:
      return stream ? "half-close" : "SIGINT";
    case StopRung::terminate:
      return "SIGTERM";
    case StopRung::kill:
      return stream ? "cancel" : "SIGKILL";
  }
  return "none";
}

}  // namespace shepherd
