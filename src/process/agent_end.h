// How an agent ended: its own exit and every process that went with it, or its stream. Threads: value.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

// Of the agent's first process.
struct AgentExit {
  int code = 0;    // when signal is 0
  int signal = 0;  // what killed it
};
std::string describe(const AgentExit& exit);  // "exit 0", "SIGKILL"
AgentExit exit_of_status(int wait_status);

struct EndedProcess {
  pid_t pid = 0;
  std::string command_line;
  std::string how;  // as describe(); "gone" when its own parent took the answer; "left" when it could not be ended
};

// The call to an agent that is a service.
struct StreamEnd {
  std::string address;
  int status = 0;  // gRPC's
  std::string message;
};

// The rungs of the stop ladder; the last one that was needed. The last two are a service's.
enum class StopRung { none, interrupt, sigint, sigterm, sigkill, half_close, cancel };
std::string_view name(StopRung rung);

struct AgentEnd {
  AgentExit exit;                   // of a service: its stream's status
  std::optional<StreamEnd> stream;  // of a service
  StopRung rung = StopRung::none;
  std::vector<EndedProcess> ended;  // every process that was there when it was stopped or when the agent exited
  std::vector<EndedProcess> left;   // not even SIGKILL ended these in time (a stuck device, another user's process)
  std::size_t unlisted = 0;         // ended beyond kMaxEndedProcesses
  std::int64_t cpu_ms = 0;          // of all of them
  std::uint64_t peak_resident_bytes = 0;  // of the largest one
  bool warden_lost = false;               // the warden itself was killed; the runner ended what it could still find

  // The first process ended because of the ladder: by one of its signals, or by an exit after one.
  bool by_ladder() const;
};

}  // namespace shepherd
