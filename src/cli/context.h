// What every command gets: its environment, where it writes, and how it reaches the server.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "client/api_client.h"
#include "client/live_client.h"
#include "client/server_options.h"
#include "terminal/output.h"

namespace shepherd {

// Threads: caller.
struct Context {
  Environment environment;
  Output out;
  Output err;
  // What the chosen command does; set while the command line is parsed, called after it.
  std::function<Result<ExitCode>()> action;
  std::vector<std::string> after_dashes = {};  // `run`, `agent`: the words behind --

  // One line on standard error: "shepherd: …". The text may come from a server or an agent: nothing of it acts on a
  // terminal, and nothing of it is dropped.
  void complain(std::string_view message);
};

// The flags of every verb that talks to a server.
void add_server_options(CLI::App& command, ServerOptions& options);
// And --internal-url, for commands that post events.
void add_internal_option(CLI::App& command, ServerOptions& options);

// The data directory of flag, environment and configuration file.
Result<std::string> data_directory(const Context& context, const std::string& flag);
Result<Destination> locate_server(const Context& context, const ServerOptions& options);
Result<ApiClient> connect_server(const Context& context, const ServerOptions& options);

}  // namespace shepherd
