// `shepherd bench`: starts the server, loads it over loopback, compares it with what the machine and its neighbours can
// do, and checks on the way that no event is missing, repeated or out of order.
#pragma once

#include <string>
#include <vector>

namespace shepherd::bench {

struct BenchOptions {
  bool peers = false;                    // nchan and Redis too, if they are installed
  bool quick = false;                    // about a minute: fewer rounds, shorter runs, smaller logs
  bool json = false;                     // only the JSON line, no table
  bool pin = true;                       // fan-out: servers on one core, the tool on another
  bool keep_data = false;                // the directories of the measured servers stay
  std::vector<std::string> only;         // names of scenario_names(); empty: all
  double seconds = 0;                    // of each measured run; 0: the scenario's own
  std::vector<std::string> server_args;  // passed to `serve`
  std::string server;                    // the program to measure; empty: this one
  std::string directory;                 // where the data go (the disk matters); empty: the system's temporary place
};

// What `only` may name, in the order in which they run.
const std::vector<std::string>& scenario_names();

// Prints to standard output: a row for each measurement, and last one JSON line. 0: everything ran and every event
// arrived once and in order (targets may have been missed: the rows say so); 1 otherwise; 2: an option is wrong.
// Threads: the process must have one thread; raises its limit of open files.
int run_bench(const BenchOptions& options);

}  // namespace shepherd::bench
