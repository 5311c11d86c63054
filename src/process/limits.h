// The bounds of process, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::chrono::milliseconds kInterruptWait{10'000};  // for the agent's own interrupt
inline constexpr std::chrono::milliseconds kCloseWait{5'000};       // after SIGINT, or the end of our side of a stream
inline constexpr std::chrono::milliseconds kTerminateWait{5'000};   // after SIGTERM
inline constexpr std::chrono::milliseconds kKillWait{
    5'000};  // after SIGKILL; remaining processes are reported as left over
inline constexpr std::chrono::milliseconds kAgentDrain{2'000};    // other processes hold an exited agent's output
inline constexpr std::chrono::milliseconds kReapPause{5};         // time between two checks of killed processes
inline constexpr std::chrono::microseconds kFirstGonePause{200};  // the kernel is quick if no other process is left
inline constexpr int kFreezePasses = 64;      // passes that look for new processes before the frozen ones are killed
inline constexpr int kAgentReadsPerTurn = 8;  // of one stream before the other stream and the warden get their turn
inline constexpr std::size_t kMaxStdinBytes = 16 * kMiB;           // bytes waiting for an agent that does not read
inline constexpr std::size_t kMaxWardenMessageBytes = 32 * kMiB;   // above the kernel's limit for arguments
inline constexpr std::size_t kMaxStartFailureBytes = 512;          // of a failed confinement; atomic below PIPE_BUF
inline constexpr std::size_t kMaxLandlockGrants = 20'000;          // each costs two calls and kernel memory
inline constexpr std::size_t kMaxCommandLineBytes = 1 * kKiB;      // command line of an ended process in a report
inline constexpr std::size_t kMaxEndedProcesses = 10'000;          // in one report; more are only counted
inline constexpr std::size_t kMaxProgramOutputBytes = 4 * kMiB;    // output of git and similar programs; more is cut
inline constexpr std::chrono::milliseconds kProgramStopWait{500};  // time for a stopped git to clean up; then SIGKILL

}  // namespace shepherd
