// What runner and warden say to each other over their socket. Both ends are the same program, so there is no version:
// a length, a verb, numbers and words.
// Threads: any; one sender and one receiver at a time on each end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/agent_end.h"

namespace shepherd {

enum class WardenVerb : std::uint8_t {
  // to the warden; the end of the socket means: end everything
  start,         // numbers: how many words are arguments; words: directory, arguments, environment
  signal_agent,  // numbers: signal; to the agent's first process
  signal_group,  // numbers: signal; to its process group
  pause,
  resume,
  end,  // numbers: milliseconds to wait after SIGKILL
  // to the runner
  started,  // numbers: pid
  failed,   // numbers: errno; words: what could not be done
  exited,   // numbers: code, signal
  ended,    // see encode_end
};

struct WardenMessage {
  WardenVerb verb = WardenVerb::end;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> words;
};

// False when the other side is gone.
bool send_message(int socket, const WardenMessage& message);
// Waits for a whole one; nullopt when the other side is gone or does not make sense.
std::optional<WardenMessage> receive_message(int socket);

WardenMessage encode_end(const AgentEnd& end);
std::optional<AgentEnd> decode_end(const WardenMessage& message);

}  // namespace shepherd
