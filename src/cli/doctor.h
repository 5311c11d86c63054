// What may be wrong with an installation, looked at from outside. Every finding says what to do about it.
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
  std::string advice;  // empty when all is well
};

std::vector<Finding> examine_data(const std::string& directory);      // directory, permissions, lock, disk
std::vector<Finding> examine_database(const std::string& directory);  // reads all of it
std::vector<Finding> examine_ledger(const std::string& directory);    // likewise: what statistics show
std::vector<Finding> examine_machine();                               // clock, limits
std::vector<Finding> examine_ports(const Config& config);             // when no server runs: are they free?
std::vector<Finding> examine_agents(const Config& config);  // the agents' programs: are they there, which version?
std::vector<Finding> examine_server(ApiClient& client);     // when one runs: does it answer, is search behind?
// Starts a program as agents are.
Finding examine_confinement(const Config& config, const Environment& environment);

}  // namespace shepherd
