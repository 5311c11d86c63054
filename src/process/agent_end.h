// How an agent ended: its own exit and every process that ended with it, or its stream. Threads: value.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

// The exit of the agent's first process.
struct AgentExit {
  int code = 0;    // if signal is 0
  int signal = 0;  // the signal that killed it
};
std::string describe(const AgentExit& exit);  // "exit 0", "SIGKILL"
AgentExit exit_of_status(int wait_status);

struct EndedProcess {
  pid_t pid = 0;
  std::string command_line;
  std::string how;  // as describe(); "gone" if its own parent reaped it; "left" if it could not be ended
};

// The end of a call to an agent that is a service.
struct StreamEnd {
  std::string address;
  int status = 0;  // gRPC status code
  std::string message;
};

// The rungs of the stop ladder, of which the last needed one is recorded. What they do depends on the agent:
//
//              a program                         a service
//   interrupt  its own way to be told            its own way to be told
//   close      SIGINT to the first process       the end of our side of the stream
//   terminate  SIGTERM to its process group      nothing
//   kill       SIGKILL to all of its processes   the call is cancelled
enum class StopRung { none, interrupt, close, terminate, kill };

struct AgentEnd {
  AgentExit exit;                   // for a service, its stream's status
  std::optional<StreamEnd> stream;  // for a service
  StopRung rung = StopRung::none;
  std::vector<EndedProcess> ended;        // all processes that existed at the stop or at the agent's exit
  std::vector<EndedProcess> left;         // survived SIGKILL so far (a stuck device, another user's process)
  std::size_t unlisted = 0;               // number of ended ones beyond kMaxEndedProcesses
  std::int64_t cpu_ms = 0;                // of all of them
  std::uint64_t peak_resident_bytes = 0;  // of the largest one
  bool warden_lost = false;               // the warden was killed; the runner ended what it found

  // The first process ended because of the ladder: by one of its signals, or by an exit after one.
  bool by_ladder() const;
  // The rung in an event: "none", "interrupt"; "SIGINT", "SIGTERM", "SIGKILL" of a program; "half-close", "cancel" of a
  // service.
  std::string_view stopped_by() const;
};

}  // namespace shepherd
