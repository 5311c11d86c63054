#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "app/command_demo.h"
#include "app/program.h"
#include "runner/warden.h"

int main(int argc, char** argv) {
  // Before anything else: a warden is this program in another role, with no threads and nothing to print.
  if (argc > 1 && std::string_view(argv[1]) == shepherd::kWardenCommand) return shepherd::warden_main(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == shepherd::kDemoAgentCommand)
    return shepherd::demo_agent_main(argc, argv);
  // A reader that went away is an error code from write(), not a death in the middle of it.
  std::signal(SIGPIPE, SIG_IGN);
  // What gRPC has to say is said in our words by whoever called it; its own lines are for whoever asks for them.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  shepherd::Environment environment = shepherd::process_environment();
  shepherd::Context context{
      environment, shepherd::Output(stdout, environment), shepherd::Output(stderr, environment), {}};
  return shepherd::run_program(argc, argv, context);
}
