#include "cli/context.h"

#include <fmt/format.h>

#include "config/config.h"
#include "model/visible_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {

void Context::complain(std::string_view message) {
  out.flush();
  err.line(fmt::format("shepherd: {}", terminal_text(visible_text(message), Lines::join)));
  err.flush();
}

void add_server_options(CLI::App& command, ServerOptions& options) {
  command.add_option("--url", options.url, "Server address (default: SHEPHERD_URL, else the one on this machine)")
      ->group("Connection");
  command.add_option("--data", options.data, "Data directory of the server on this machine")->group("Connection");
  command.add_option("--ca-file", options.ca_file, "Trust this certificate authority (PEM)")->group("Connection");
  command.add_flag("--insecure-tls", options.insecure_tls, "Accept any certificate")->group("Connection");
}

void add_internal_option(CLI::App& command, ServerOptions& options) {
  command
      .add_option("--internal-url", options.internal_url,
                  "Internal address of a server on another machine; events are posted there")
      ->group("Connection");
}

Result<std::string> data_directory(const Context& context, const std::string& flag) {
  ConfigInputs inputs;
  if (!flag.empty()) inputs.flags.emplace_back("data", flag);
  Result<LoadedConfig> loaded = load_config(inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  if (!loaded->config.data.empty()) return loaded->config.data;
  return default_data_directory(context.environment);  // its error explains why there is none
}

Result<Destination> locate_server(const Context& context, const ServerOptions& options) {
  Result<std::string> data = data_directory(context, options.data);
  bool has_url = !options.url.empty() || !context.environment("SHEPHERD_URL").empty();
  if (!data && !has_url) return fail(data.error());  // with a URL, a broken configuration does not matter
  return find_server({options.url, options.internal_url, data.value_or("")}, context.environment);
}

Result<ApiClient> connect_server(const Context& context, const ServerOptions& options) {
  Result<Destination> destination = locate_server(context, options);
  if (!destination) return fail(destination.error());
  return ApiClient::create(*std::move(destination), options.tls());
}

}  // namespace shepherd
