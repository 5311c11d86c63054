// Checks an installation from outside. Every problem comes with advice on how to fix it.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "client/api_client.h"
#include "config/config.h"

namespace shepherd {

struct Finding {
  enum class Level { ok, warn, fail };
  Level level = Level::ok;
  std::string subject;  // "database"
  std::string text;
  std::string advice;  // empty if there is no problem
};

std::vector<Finding> examine_data(const std::string& directory);      // directory, permissions, lock, disk
std::vector<Finding> examine_database(const std::string& directory);  // reads the whole database
std::vector<Finding> examine_ledger(const std::string& directory);    // reads the whole ledger, which statistics use
std::vector<Finding> examine_machine();                               // clock, limits
std::vector<Finding> examine_ports(const Config& config);             // if no server runs: are the ports free?
std::vector<Finding> examine_agents(const Config& config);  // are the agents' programs installed, and which version?
std::vector<Finding> examine_server(ApiClient& client);     // if a server runs: does it answer, is search behind?
// Starts a program with the confinement of agents.
Finding examine_confinement(const Config& config, const Environment& environment);

}  // namespace shepherd
