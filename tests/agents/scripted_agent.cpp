// An agent that speaks Claude Code's dialect and does what a script says. See README.md.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "demo/options.h"
#include "demo/script.h"
#include "mischief.h"

int main(int argc, char** argv) try {
  using namespace scripted;
  Script script = script_from_environment();
  Options options = parse_options(argc, argv, script.refuses);
  if (!options.error.empty()) {
    std::cerr << options.error << "\n";
    return 1;
  }
  if (options.version) {
    std::cout << script.version << "\n";
    return 0;
  }
  signal(SIGPIPE, SIG_IGN);
  MischievousAgent agent(options, std::move(script));
  return agent.run();
} catch (const std::exception& error) {
  std::cerr << "scripted_agent: " << error.what() << "\n";
  return 70;
}
