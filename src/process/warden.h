// The warden: a process of its own between the runner and one agent.
//
// It is the agent's parent and the subreaper of all that the agent starts, so a child that forked twice and took its
// own session still comes back to it. It ends all of them when the runner says so, and also when the runner's end of
// their socket closes, however the runner died: no survivor. It lives until no process is left. Signals do not reach it
// (blocked, own session) except SIGKILL; then the kernel kills the agent's first process (PR_SET_PDEATHSIG), and the
// runner, a subreaper too, ends the rest.
//
// Started by launch_warden() as `<program> __warden` with the descriptors below. main() must come here before it does
// anything else: no threads, no configuration, no output.
// Threads: caller.
#pragma once

#include <string_view>

namespace shepherd {

inline constexpr std::string_view kWardenCommand = "__warden";

inline constexpr int kWardenSocket = 3;
inline constexpr int kWardenAgentIn = 4;
inline constexpr int kWardenAgentOut = 5;
inline constexpr int kWardenAgentErr = 6;

// The process's exit code: 0 when no process is left.
int warden_main(int argc, char** argv);

}  // namespace shepherd
