// shepherd runner: claims tasks from a server and runs them here.
#include <fmt/format.h>

#include <sys/stat.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "access/secret.h"
#include "base/log.h"
#include "base/random.h"
#include "base/whole_file.h"
#include "cli/agent_pool.h"
#include "cli/assignment_port.h"
#include "cli/end_signals.h"
#include "cli/verbs.h"
#include "config/agent_confinement.h"
#include "config/config_flags.h"
#include "config/exposure.h"
#include "config/limits.h"
#include "host/data_lock.h"

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr const char* kBearerAuth = "bearer";
constexpr const char* kNoAuth = "none";

struct RunnerOptions {
  ServerOptions server;
  std::string config_file, confine, id, listen, token_file, listen_auth = kBearerAuth;
  std::vector<std::string> labels, agents, api_urls;
  std::size_t parallel = kRunners;
  bool no_claims = false, json = false, insecure_bind = false;
};

Result<PoolOptions> pool(const RunnerOptions& options, const Config& config) {
  PoolOptions pool = pool_options(config, options.parallel);
  pool.runner = options.id;
  pool.claims = !options.no_claims;
  if (!options.agents.empty()) pool.agents = options.agents;
  for (const std::string& label : options.labels) {
    std::size_t equals = label.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::invalid_argument, "bad_label", fmt::format("a label is NAME=VALUE; got \"{}\"", label));
    }
    pool.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return pool;
}

// The token that callers must send, from the file. If the file is missing and `may_make` is set, creates both.
Result<std::string> caller_token(const std::string& path, bool may_make) {
  Result<std::string> token = read_first_line(path);
  if (token && !token->empty()) return token;
  if (!token || !may_make) {
    return fail(ErrorCode::invalid_argument, "no_token", fmt::format("cannot read a token from {}", path));
  }
  SystemRandom random;
  std::string made = make_secret(kTokenPrefix, random);
  if (Result<void> kept = replace_file(path, made + "\n", S_IRUSR | S_IWUSR); !kept) return fail(kept.error());
  return made;
}

Result<std::unique_ptr<AssignmentPort>> open_port(const RunnerOptions& options, const Destination& server,
                                                  const std::string& token_file, RunnerPool& pool, const Clock& clock) {
  AssignmentOptions assignments;
  assignments.listen = options.listen;
  assignments.api_urls = options.api_urls;
  assignments.api_urls.push_back(server.public_url);
  assignments.api_urls.push_back(server.internal_url);
  assignments.open = options.listen_auth == kNoAuth;
  if (!assignments.open) {
    Result<std::string> token = caller_token(token_file, options.token_file.empty());
    if (!token) return fail(std::move(token.error()));
    assignments.token = *std::move(token);
  }
  return AssignmentPort::open(std::move(assignments), pool, clock);
}

Result<ExitCode> runner(Context& context, const RunnerOptions& options) {
  ConfigInputs inputs{options.config_file, {}};
  if (!options.server.data.empty()) inputs.flags.emplace_back("data", options.server.data);
  if (!options.confine.empty()) inputs.flags.emplace_back("runners.confine", options.confine);
  Result<LoadedConfig> loaded = load_config(inputs, context.environment);
  if (!loaded) return fail(std::move(loaded.error()));
  const Config& config = loaded->config;
  if (!options.listen.empty() && !is_loopback(options.listen) && !options.insecure_bind) {
    return fail(ErrorCode::invalid_argument, "exposed",
                fmt::format("{} is reachable from other machines, and its token would travel in the clear; listen on "
                            "127.0.0.1, or give --insecure-bind if something in front does TLS",
                            options.listen));
  }
  start_log(config.log_level);
  if (Result<void> made = make_data_directory(config.data); !made) return fail(std::move(made.error()));
  Result<Destination> server = locate_server(context, options.server);
  if (!server) return fail(std::move(server.error()));
  Result<PoolOptions> asked = pool(options, config);
  if (!asked) return fail(std::move(asked.error()));

  EndSignals signals;
  SystemClock clock;
  RunnerPool slots(
      *std::move(asked), [&] { return locate_server(context, options.server); }, options.server.tls(), clock);
  std::unique_ptr<AssignmentPort> port;
  std::string token_file = options.token_file.empty() ? config.data + "/runner.token" : options.token_file;
  if (!options.listen.empty()) {
    Result<std::unique_ptr<AssignmentPort>> opened = open_port(options, *server, token_file, slots, clock);
    if (!opened) return fail(std::move(opened.error()));
    port = *std::move(opened);
  }
  if (options.json) {
    json::object ready{{"event", "ready"}, {"runner", slots.runner()}, {"parallel", options.parallel}};
    if (port) {
      ready["listen"] = port->url();
      if (options.listen_auth != kNoAuth) ready["tokenFile"] = token_file;
    }
    context.out.line(json::serialize(ready));
  } else {
    context.out.line(fmt::format("{} runs up to {} tasks of {}. Ctrl-C ends it.", slots.runner(), options.parallel,
                                 server->internal_url));
    if (port) {
      context.out.line(fmt::format("Tasks are also taken at {}/task, {}", port->url(),
                                   options.listen_auth == kNoAuth ? "from every caller that reaches it"
                                                                  : "with the bearer token in " + token_file));
    }
  }
  context.out.flush();
  while (signals.wait(std::chrono::hours(1)) == 0) {
  }
  if (!options.json) context.err.line("Stopping what runs; a second Ctrl-C ends it at once.");
  context.err.flush();
  signals.unblock();
  port.reset();
  return ExitCode::ok;
}

}  // namespace

void add_runner_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunnerOptions>();
  CLI::App* command = app.add_subcommand("runner", "Claim tasks from a server and run them on this machine");
  command->add_option("--parallel", options->parallel, "How many tasks to run at once")
      ->check(CLI::Range(std::int64_t{1}, kMaxRunners))
      ->capture_default_str();
  command
      ->add_option("--agent", options->agents,
                   "Only tasks for this agent; may be repeated. Assigned tasks that name none get the first")
      ->allow_extra_args(false);
  command->add_option("--label", options->labels, "Only tasks with this label, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  add_confine_option(*command, options->confine);
  command->add_option("--id", options->id, "Runner id (default: generated)");
  command->add_option("--listen", options->listen, "Also take tasks by POST /task at this address (127.0.0.1:8888)");
  command->add_option("--listen-token-file", options->token_file,
                      "File with the token that callers of --listen must send (default: runner.token in the data "
                      "directory, created if missing)");
  command
      ->add_option(
          "--listen-auth", options->listen_auth,
          "bearer: callers of --listen must send the token; none: anyone who can reach the address may assign tasks")
      ->check(CLI::IsMember({kBearerAuth, kNoAuth}))
      ->capture_default_str();
  command->add_option("--api-url", options->api_urls, "Another server address that callers may name; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--insecure-bind", options->insecure_bind,
                    "Allow --listen on addresses beyond loopback without TLS");
  command->add_flag("--no-claims", options->no_claims, "Take only tasks posted to --listen");
  command->add_flag("--json", options->json, "Print one JSON line when ready");
  command->add_option("--config", options->config_file, "Configuration file");
  add_server_options(*command, options->server);
  add_internal_option(*command, options->server);
  command->footer(
      "A task with a repository is cloned under the data directory, on branch shepherd/TASK; one without gets an "
      "empty\n"
      "directory. When the runner is stopped, it stops its agents and notes that in their logs.\n\n"
      "Examples:\n  shepherd runner --parallel 4\n"
      "  SHEPHERD_URL=https://tower.example.org SHEPHERD_INTERNAL_URL=https://tower.example.org:8081 shepherd runner\n"
      "  shepherd runner --listen 127.0.0.1:8888 --listen-token-file token --no-claims");
  command->callback(
      [options, &context] { context.action = [options, &context] { return runner(context, *options); }; });
}

}  // namespace shepherd
