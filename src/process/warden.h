// The warden: a separate process between the runner and one agent.
//
// It is the agent's parent and the subreaper of everything that the agent starts, so even a child that forked twice and
// has its own session comes back to it. It ends all of them when the runner requests it, and also when the runner's end
// of their socket closes, however the runner died: no process survives. It lives until no process is left. Signals do
// not reach it (blocked, own session) except SIGKILL; then the kernel kills the agent's first process
// (PR_SET_PDEATHSIG), and the runner, also a subreaper, ends the rest.
//
// launch_warden() starts it as `<program> __warden` with the descriptors below. main() must call it first of all: no
// threads, no configuration, no output before.
// Threads: caller.
#pragma once

#include <string_view>

namespace shepherd {

inline constexpr std::string_view kWardenCommand = "__warden";

inline constexpr int kWardenSocket = 3;
inline constexpr int kWardenAgentIn = 4;
inline constexpr int kWardenAgentOut = 5;
inline constexpr int kWardenAgentErr = 6;
// Namespaces of the agent beside which a program starts (shared_confinement.h); otherwise not open.
inline constexpr int kWardenMounts = 7;
inline constexpr int kWardenUsers = 8;

// Above the warden's own descriptors, so that moving one there does not overwrite another.
inline constexpr int kFirstFreeDescriptor = 16;

// Returns the process's exit code: 0 if no process is left.
int warden_main(int argc, char** argv);

}  // namespace shepherd
