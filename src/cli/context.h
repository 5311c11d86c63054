// The context of every command: its environment, its output, and how it connects to the server.
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
  // The chosen command's action; set while the command line is parsed, called afterwards.
  std::function<Result<ExitCode>()> action;
  std::vector<std::string> after_dashes = {};  // arguments after -- of `run` and `agent`

  // Prints one line on standard error: "shepherd: …". The text may come from a server or an agent, so it is escaped for
  // the terminal; nothing is dropped.
  void complain(std::string_view message);
};

// Adds the flags of every command that connects to a server.
void add_server_options(CLI::App& command, ServerOptions& options);
// Adds --internal-url, for commands that post events.
void add_internal_option(CLI::App& command, ServerOptions& options);

// The data directory from the flag, the environment or the configuration file.
Result<std::string> data_directory(const Context& context, const std::string& flag);
Result<Destination> locate_server(const Context& context, const ServerOptions& options);
Result<ApiClient> connect_server(const Context& context, const ServerOptions& options);

}  // namespace shepherd
