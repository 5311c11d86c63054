// The messages between runner and warden over their socket: a length, a verb, numbers and words. Both ends are the same
// program, so there is no version.
// Threads: any; one sender and one receiver at a time on each end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/agent_end.h"
#include "process/confinement.h"

namespace shepherd {

enum class WardenVerb : std::uint8_t {
  // to the warden; the end of the socket means that everything must end
  start,         // see encode_start
  signal_agent,  // numbers: signal; to the agent's first process
  signal_group,  // numbers: signal; to its process group
  pause,
  resume,
  end,  // numbers: milliseconds to wait after SIGKILL
  // to the runner
  started,  // numbers: pid, and that of its namespace's init process
  failed,   // numbers: errno; words: what failed, and the error's reason
  exited,   // numbers: code, signal
  ended,    // see encode_end
};

struct WardenMessage {
  WardenVerb verb = WardenVerb::end;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> words;
};

// Returns false if the other side is gone.
bool send_message(int socket, const WardenMessage& message);
// Waits for a whole message; nullopt if the other side is gone or sends nonsense.
std::optional<WardenMessage> receive_message(int socket);

// The namespaces of another agent that the agent joins, which are open in its warden (warden.h).
enum class WardenJoins : std::uint8_t { none, mounts, users_and_mounts };

// What a warden must start. Threads: value.
struct WardenStart {
  std::string directory;  // of the confinement
  std::string begins_in;  // where the program begins
  std::vector<std::string> arguments, environment;
  ConfineMeans means = ConfineMeans::none;
  WardenJoins joins = WardenJoins::none;
  std::vector<ConfineStep> steps;
};
WardenMessage encode_start(const WardenStart& start);
std::optional<WardenStart> decode_start(WardenMessage message);

WardenMessage encode_end(const AgentEnd& end);
std::optional<AgentEnd> decode_end(const WardenMessage& message);

}  // namespace shepherd
