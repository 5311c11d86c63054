#include <csignal>
#include <cstdio>

#include "app/program.h"

int main(int argc, char** argv) {
  // A reader that went away is an error code from write(), not a death in the middle of it.
  std::signal(SIGPIPE, SIG_IGN);
  shepherd::Environment environment = shepherd::process_environment();
  shepherd::Context context{
      environment, shepherd::Output(stdout, environment), shepherd::Output(stderr, environment), {}};
  return shepherd::run_program(argc, argv, context);
}
