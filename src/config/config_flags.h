// The flags that change settings, shared by the commands that read the configuration.
// Threads: caller.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace shepherd {

class ConfigFlags {
 public:
  // Adds --config, --data and --set. This object must outlive the command.
  void add_to(CLI::App& command);
  // Adds a flag for one key, e.g. --listen for public.listen.
  void add_key(CLI::App& command, const std::string& flag, const std::string& key, const std::string& help);
  void add_switch(CLI::App& command, const std::string& flag, const std::string& key, const std::string& help);

  Result<ConfigInputs> inputs() const;

 private:
  std::string file_;
  std::map<std::string, std::string> keys_;  // key -> value; empty: not given
  std::map<std::string, bool> switches_;
  std::vector<std::string> settings_;  // --set
};

}  // namespace shepherd
