// `shepherd bench`: starts the server, loads it over loopback, compares it with the machine's limits and with other
// programs, and checks that no event is missing, repeated or out of order.
#pragma once

#include <string>
#include <vector>

namespace shepherd::bench {

struct BenchOptions {
  bool peers = false;                    // include nchan and Redis if they are installed
  bool quick = false;                    // takes about a minute: fewer rounds, shorter runs, smaller logs
  bool json = false;                     // print only the JSON line, no table
  bool pin = true;                       // fan-out: servers on one core, the tool on another
  bool keep_data = false;                // keep the directories of the measured servers
  std::vector<std::string> only;         // names of scenario_names(); empty: all
  double seconds = 0;                    // of each measured run; 0: the scenario's default
  std::vector<std::string> server_args;  // passed to `serve`
  std::string server;                    // the program to measure; empty: this one
  std::string directory;                 // for the data (the disk matters); empty: the system's temporary directory
};

// The valid names for `only`, in the order in which the scenarios run.
const std::vector<std::string>& scenario_names();

// Prints a row for each measurement and then one JSON line to standard output. Returns 0 if everything ran and every
// event arrived once and in order (the rows show missed targets), 1 otherwise, 2 for a wrong option.
// Threads: the process must have only one thread; raises its limit of open files.
int run_bench(const BenchOptions& options);

}  // namespace shepherd::bench
