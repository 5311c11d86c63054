// The bounds of harness/acp, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

inline constexpr std::chrono::milliseconds kAcpAnswer{10'000};        // for an agent to answer; --timeout changes it
inline constexpr std::chrono::milliseconds kAcpStartWait{60'000};     // programs on Node take seconds on a busy machine
inline constexpr std::chrono::milliseconds kAcpQuiet{500};            // time to watch what follows the end of a turn
inline constexpr std::chrono::milliseconds kAcpExitWait{10'000};      // after the end of its input
inline constexpr std::chrono::milliseconds kAcpTerminateWait{2'000};  // after SIGTERM, for one that did not exit
inline constexpr int kAcpTurnAnswers = 6;                             // a whole turn may take this many answers' time
inline constexpr std::size_t kMaxAcpLines = 100'000;             // of one check; an agent that prints more is at fault
inline constexpr std::size_t kMaxAcpBytes = 64UL * 1024 * 1024;  // the same, for few long lines
inline constexpr std::size_t kMaxAcpDepth = 256;                 // nesting of a message; deeper is not read
inline constexpr std::size_t kMaxQuotedLine = 120;               // of a wrong line in the report

}  // namespace shepherd
