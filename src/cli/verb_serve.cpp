// shepherd serve: runs the server until a signal ends it.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "cli/agent_pool.h"
#include "cli/doctor.h"
#include "cli/end_signals.h"
#include "cli/limits.h"
#include "cli/verbs.h"
#include "config/agent_confinement.h"
#include "config/config_flags.h"
#include "hooks/hook_uptake.h"
#include "host/limits.h"
#include "host/server.h"
#include "host/service_notify.h"
#include "host/version.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct ServeOptions {
  ConfigFlags flags;
  bool json = false;
};

void say_ready_json(Context& context, const Server& server) {
  json::object ready{
      {"event", "ready"},
      {"public", server.public_url()},
      {"internal", server.internal_url()},
      {"grpc", server.grpc_address().empty() ? json::value(nullptr) : json::value(server.grpc_address())},
      {"adminTokenFile", server.admin_token_file()}};
  context.out.line(json::serialize(ready));
}

void say_ready(Context& context, const Server& server, const Config& config) {
  Output& out = context.out;
  auto field = [&](std::string_view name, const std::string& value, std::string_view remark) {
    out.line(fmt::format("  {:<10} {}  {}", name, out.paint(Color::bold, value), out.paint(Color::dim, remark)));
  };
  bool usual = default_data_directory(context.environment).value_or("") == config.data;
  out.line(fmt::format("Shepherd {} is ready.\n", kVersion));
  field("open", server.login_link(),
        config.public_port.auth == "none" ? "" : "signs a browser in, once, within 15 minutes");
  field("public", server.public_url(), "people, dashboards, command lines");
  field("internal", server.internal_url(), "events are posted here");
  if (!server.grpc_address().empty()) field("gRPC", server.grpc_address(), "programs that follow events");
  if (!config.models.empty()) field("chat", server.page_url() + "/?view=chat", "talk to a model; docs/chat.md");
  field("data", config.data, "");
  out.line("\nTry it in another terminal:");
  if (!usual) out.line(fmt::format("  export SHEPHERD_DATA={}", config.data));
  out.line("  shepherd demo                          # scripted agents, no account needed");
  out.line("  shepherd run \"fix the failing test\"    # Claude Code, in the current directory");
  out.line("  shepherd run -- make test              # any command");
  out.line("  shepherd top                           # all tasks on one screen");
  out.line(out.paint(Color::dim, fmt::format("\nThis is process {}. Ctrl-C stops the server.", getpid())));
}

// All addresses in use, with the flags that change them, so that the operator sees them in one error.
std::string taken_addresses(const Config& config, const std::string& otherwise) {
  std::vector<std::string> taken, flags;
  for (const Finding& port : examine_ports(config)) {
    if (port.level == Finding::Level::ok) continue;
    bool open = port.subject == "public";
    taken.push_back(open ? config.public_port.listen : config.internal.listen);
    flags.emplace_back(open ? "--listen 127.0.0.1:0" : "--internal-listen 127.0.0.1:0");
  }
  if (taken.empty()) return otherwise;
  return fmt::format(
      "cannot listen on {}: taken, perhaps by another server. Stop it, or choose other ports: shepherd serve {} (port "
      "0: "
      "any free one)",
      fmt::join(taken, " and "), fmt::join(flags, " "));
}

Result<ExitCode> serve(Context& context, const ServeOptions& options) {
  Result<ConfigInputs> inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  Result<LoadedConfig> loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  loaded->config.grpc_required = loaded->sources.at("grpc.listen") != "default";
  const Config& config = loaded->config;
  // By default each of the threads that come and go keeps an arena of freed memory.
  mallopt(M_ARENA_MAX, kMallocArenas);
  mallopt(M_MMAP_THRESHOLD, kMallocKeepBytes);
  mallopt(M_TRIM_THRESHOLD, kMallocKeepBytes);
  start_log(config.log_level);
  EndSignals signals;
  ServiceNotify service(context.environment);
  Result<std::unique_ptr<Server>> server = Server::start(config);
  if (!server) {
    // A port in use or a locked database is this command's failure, not an unreachable server.
    if (exit_code_of(server.error()) != ExitCode::unreachable) return fail(server.error());
    bool taken = server.error().reason == "address_in_use";
    context.complain(taken ? taken_addresses(config, server.error().message) : server.error().message);
    return ExitCode::failed;
  }
  options.json ? say_ready_json(context, **server) : say_ready(context, **server, config);
  context.out.flush();
  service.send("READY=1");

  SystemClock clock;
  // The following are ordinary clients, so they start after the server and end before it.
  std::unique_ptr<RunnerPool> runners;
  if (config.runners > 0) {
    auto locate = [&] { return find_server({"", "", config.data}, [](const char*) { return std::string(); }); };
    net::ClientTls tls{"", true};  // our own certificate, on this machine
    runners = std::make_unique<RunnerPool>(pool_options(config, static_cast<std::size_t>(config.runners)), locate, tls,
                                           clock);
  }
  auto hooks = std::make_unique<HookUptake>(config.data);
  std::int64_t alive_ms = clock.steady_ms();
  while (signals.wait(kServerTick) == 0) {
    (*server)->tick();
    auto interval = service.watchdog_interval();
    if (interval && clock.steady_ms() - alive_ms >= interval->count()) {
      alive_ms = clock.steady_ms();
      service.send("WATCHDOG=1");
    }
  }
  signals.unblock();  // a second signal ends the process immediately; acknowledged events are safe
  service.send("STOPPING=1");
  if (!options.json) context.err.line("Stopping; a second Ctrl-C ends it at once.");
  context.err.flush();
  runners.reset();
  hooks.reset();
  server->reset();
  return ExitCode::ok;
}

}  // namespace

void add_serve_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Run the server");
  ConfigFlags& flags = options->flags;
  flags.add_to(*command);
  flags.add_key(*command, "--listen", "public.listen",
                "Public address or loopback port (default 127.0.0.1:8080); port 0: any free one");
  flags.add_key(*command, "--internal-listen", "internal.listen", "Internal address (default 127.0.0.1:8081)");
  flags.add_key(*command, "--grpc-listen", "grpc.listen",
                "gRPC address (default 127.0.0.1:8082 if it is free); off: none");
  flags.add_key(*command, "--confine", "runners.confine", std::string(kConfineHelp));
  flags.add_key(*command, "--tls-cert", "public.tls.cert", "Certificate chain of the public address (PEM)");
  flags.add_key(*command, "--tls-key", "public.tls.key", "Private key of the public address (PEM)");
  flags.add_key(*command, "--internal-tls-cert", "internal.tls.cert",
                "Certificate chain of the internal address (PEM)");
  flags.add_key(*command, "--internal-tls-key", "internal.tls.key", "Private key of the internal address (PEM)");
  flags.add_key(*command, "--grpc-tls-cert", "grpc.tls.cert", "Certificate chain of the gRPC address (PEM)");
  flags.add_key(*command, "--grpc-tls-key", "grpc.tls.key", "Private key of the gRPC address (PEM)");
  flags.add_key(*command, "--auth", "public.auth", "token, or none: no token is needed (loopback only)");
  flags.add_key(*command, "--internal-auth", "internal.auth",
                "The same for the internal address (none: loopback or trusted network only)");
  flags.add_key(*command, "--runners", "runners.count",
                "Number of agents to run at once in this process (default 2; 0: none)");
  flags.add_switch(*command, "--insecure-bind", "insecure_bind", "Allow addresses beyond loopback without TLS");
  flags.add_key(*command, "--log-level", "log.level", "debug, info, warn, error or off");
  command->add_flag("--json", options->json, "Print one JSON line when ready, for programs that start it");
  command->footer(
      "Examples:\n  shepherd serve\n  shepherd serve --data ./data --listen 127.0.0.1:0 --internal-listen 127.0.0.1:0 "
      "--json\n  shepherd serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem");
  command->callback([options, &context] { context.action = [options, &context] { return serve(context, *options); }; });
}

}  // namespace shepherd
