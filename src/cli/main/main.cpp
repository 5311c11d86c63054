#include <grpc/support/log.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/program.h"
#include "cli/verb_demo.h"
#include "host/own_secrets.h"
#include "process/warden.h"

namespace {

// Hides gRPC's own log lines, because callers report its errors in our words. A person can enable them with its
// environment variable, which is not set here because agents would inherit it. A failed assertion, which ends the
// program, is always shown.
void hear_grpc(gpr_log_func_args* said) {
  if (std::strstr(said->message, "assertion failed") == nullptr) return;
  static_cast<void>(std::fprintf(stderr, "gRPC: %s (%s:%d)\n", said->message, said->file, said->line));
}

}  // namespace

int main(int argc, char** argv) {
  // Must come first: a warden is this program in another role, with no threads and no output.
  if (argc > 1 && std::string_view(argv[1]) == shepherd::kWardenCommand) return shepherd::warden_main(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == shepherd::kDemoAgentCommand)
    return shepherd::demo_agent_main(argc, argv);
  // Makes write() return an error if the reader closes the pipe, instead of killing the process.
  std::signal(SIGPIPE, SIG_IGN);
  if (std::getenv("GRPC_VERBOSITY") == nullptr) ::gpr_set_log_function(hear_grpc);
  shepherd::Environment environment = shepherd::keep_secrets();
  shepherd::Context context{
      environment, shepherd::Output(stdout, environment), shepherd::Output(stderr, environment), {}};
  return shepherd::run_program(argc, argv, context);
}
