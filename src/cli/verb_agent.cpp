// shepherd agent test: checks an agent against its protocol, that of streaming agents or the Agent Client Protocol.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/whole_file.h"
#include "cli/agent_check.h"
#include "cli/agent_report.h"
#include "cli/known_agents.h"
#include "cli/limits.h"
#include "cli/verbs.h"
#include "config/config_flags.h"
#include "driver/grpc/dialect.h"
#include "harness/harness.h"
#include "harness/limits.h"

namespace shepherd {
namespace {

struct AgentOptions {
  ConfigFlags flags;
  AgentReportForm form;
  std::string name, program, stream, ca_file, cert_file, key_file, server_name, token, token_file;
  std::map<std::string, std::string> metadata;
  bool acp = false, tls = false;
  GrpcDialect dialect = GrpcDialect::json;
  bool dialect_given = false;
  double timeout_seconds = 0;  // 0: the check's own
};

Result<std::string> text_of(const std::string& path) {
  auto text = read_whole_file(path, kMaxSettingsBytes);
  if (!text) return fail(text.error());
  if (!*text) return fail(ErrorCode::invalid_argument, "unreadable_file", fmt::format("there is no {}", path));
  return **std::move(text);
}

// Looks up a name in the configuration's `agents`: the agent's address and credentials.
Result<void> look_up(const Context& context, AgentOptions& options) {
  auto inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  auto loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  const auto& agents = loaded->config.agents;
  auto found = agents.find(options.stream);
  if (found == agents.end() || found->second.remote() == nullptr) {
    std::string known;
    for (const auto& [name, agent] : agents) {
      if (agent.remote() != nullptr) known += (known.empty() ? "it has " : ", ") + name;
    }
    return fail(ErrorCode::invalid_argument, "unknown_agent",
                fmt::format("\"{}\" is neither HOST:PORT nor a name under `agents:` of the configuration ({})",
                            options.stream, known.empty() ? "which has none" : known));
  }
  const RemoteAgent& agent = *found->second.remote();
  options.stream = agent.address;
  options.tls = options.tls || agent.tls;
  auto unless_said = [](std::string& said, const std::string& configured) {
    if (said.empty()) said = configured;
  };
  unless_said(options.ca_file, agent.ca_file);
  unless_said(options.cert_file, agent.cert_file);
  unless_said(options.key_file, agent.key_file);
  unless_said(options.server_name, agent.server_name);
  if (options.token.empty()) unless_said(options.token_file, agent.token_file);
  options.metadata = agent.metadata;
  if (!options.dialect_given && agent.dialect) options.dialect = *agent.dialect;
  return {};
}

Result<harness::AgentTarget> target_of(const AgentOptions& options) {
  harness::AgentTarget target{.address = options.stream,
                              .tls = options.tls || !options.ca_file.empty() || !options.cert_file.empty(),
                              .server_name = options.server_name,
                              .dialect = options.dialect,
                              .token = options.token,
                              .metadata = options.metadata};
  if (options.cert_file.empty() != options.key_file.empty()) {
    return fail(ErrorCode::invalid_argument, "bad_options", "a certificate of ours needs --cert-file and --key-file");
  }
  std::string token;
  const std::pair<const std::string*, std::string*> files[] = {{&options.ca_file, &target.ca_pem},
                                                               {&options.cert_file, &target.cert_pem},
                                                               {&options.key_file, &target.key_pem},
                                                               {&options.token_file, &token}};
  for (const auto& [path, text] : files) {
    if (path->empty()) continue;
    auto read = text_of(*path);
    if (!read) return fail(read.error());
    *text = *std::move(read);
  }
  if (!token.empty()) target.token = token.substr(0, token.find_first_of("\r\n"));
  return target;
}

std::optional<std::chrono::milliseconds> asked_answer(const AgentOptions& options) {
  if (options.timeout_seconds <= 0) return {};
  return std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_seconds * 1000));
}

Result<ExitCode> test_streaming(Context& context, AgentOptions options) {
  harness::HarnessOptions asked;
  asked.command = context.after_dashes;
  if (options.stream.empty() && asked.command.empty()) {
    return fail(
        ErrorCode::invalid_argument, "no_agent",
        "which agent? give the name of one (`shepherd agents` lists them), --stream HOST:PORT of one that runs, "
        "or a command: shepherd agent test -- ./my-agent {address}");
  }
  if (!options.stream.empty() && options.stream.find(':') == std::string::npos) {
    if (auto found = look_up(context, options); !found) return fail(found.error());
  }
  auto target = target_of(options);
  if (!target) return fail(target.error());
  asked.target = *std::move(target);
  asked.answer = asked_answer(options).value_or(kAgentAnswer);
  asked.run = std::min(kAgentRun, asked.answer * 6);
  asked.progress = [&context](const std::string& what) { context.err.status("trying: " + what); };
  auto report = harness::test_agent(asked);
  context.err.status("");
  if (!report) return fail(report.error());

  return give_report(context, *report, options.form);
}

// An agent by the name that a task would give.
Result<ExitCode> test_by_name(Context& context, AgentOptions options) {
  auto inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  auto loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  auto entry = agent_entry(loaded->config, options.name);
  if (!entry) {
    return fail(ErrorCode::invalid_argument, "unknown_agent",
                fmt::format("there is no agent \"{}\"; it is one of {}", options.name,
                            fmt::join(agent_names(loaded->config), ", ")));
  }
  if (entry->remote() != nullptr) {
    options.stream = options.name;
    return test_streaming(context, std::move(options));
  }
  AgentCheckRequest request{.name = options.name,
                            .driver = entry->driver,
                            .program = *entry->program(),
                            .answer = asked_answer(options),
                            .form = options.form};
  if (!options.program.empty()) request.program.command.front() = options.program;
  if (!options.acp && has_live_check(options.name)) return run_live_check(context, request);
  if (entry->driver == "acp") return run_acp_check(context, request);
  return fail(ErrorCode::invalid_argument, "no_check",
              fmt::format("\"{}\" speaks a protocol of its own (driver {}), and it is not known how it is pointed at a "
                          "scripted model",
                          options.name, entry->driver));
}

Result<ExitCode> test(Context& context, const AgentOptions& options) {
  bool has_command = !context.after_dashes.empty();
  if (!options.name.empty()) {
    if (!has_command && options.stream.empty()) return test_by_name(context, options);
    return fail(ErrorCode::invalid_argument, "bad_options",
                "give either the name of an agent, or --stream, or a command behind --");
  }
  if (!options.acp) return test_streaming(context, options);
  if (!has_command || !options.stream.empty()) {
    return fail(ErrorCode::invalid_argument, "no_agent",
                "--acp needs the agent's name or its command: shepherd agent test --acp -- ./my-agent");
  }
  return run_acp_check(context, {.name = {},
                                 .driver = "acp",
                                 .program = {.command = context.after_dashes, .environment = {}},
                                 .answer = asked_answer(options),
                                 .form = options.form});
}

}  // namespace

void add_agent_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<AgentOptions>();
  CLI::App* agent = app.add_subcommand("agent", "Check an agent: does it keep to its protocol?");
  agent->require_subcommand(1);
  agent->footer("Examples:\n  shepherd agent test goose\n  shepherd agent test --stream 127.0.0.1:50051\n");
  CLI::App* command = agent->add_subcommand("test", "Check an agent against its protocol: gRPC, or ACP");
  options->flags.add_to(*command);
  command->add_option("name", options->name,
                      "An agent by its name, from `agents:` of the configuration or known to Shepherd");
  command->add_option("--program", options->program, "The program of the agent with that name (default: from PATH)");
  command->add_flag("--acp", options->acp,
                    "Check the Agent Client Protocol on standard streams: of the command behind --, or of the\n"
                    "agent with that name");
  command->add_option("--stream", options->stream,
                      "HOST:PORT or unix:PATH where the agent listens (or will, with a command), or its name under\n"
                      "`agents:` of the configuration");
  command
      ->add_option_function<std::string>(
          "--dialect",
          [options](const std::string& word) {
            options->dialect = grpc_dialect(word).value_or(GrpcDialect::json);
            options->dialect_given = true;
          },
          "Dialect to test: json (the default) or typed")
      ->check(CLI::IsMember({"json", "typed"}));
  command
      ->add_option("--timeout", options->timeout_seconds,
                   "Seconds an agent has to react (default: 10, with a model 20)")
      ->check(CLI::Range(0.1, 600.0));
  command->add_option("--junit", options->form.junit, "Also write the report as JUnit XML to this file");
  command->add_flag("--json", options->form.json, "Print the report as one JSON object");
  command->add_flag("--tls", options->tls, "Connect with TLS");
  command->add_option("--ca-file", options->ca_file, "Authorities to trust (PEM); implies --tls");
  command->add_option("--cert-file", options->cert_file, "Our certificate (PEM), when the agent asks for one");
  command->add_option("--key-file", options->key_file, "The key of --cert-file (PEM)");
  command->add_option("--server-name", options->server_name,
                      "The name in the agent's certificate, when it is not the address's");
  auto* token_file =
      command->add_option("--token-file", options->token_file, "Its first line is sent as authorization: Bearer …");
  command->add_option("--token", options->token, "The token itself (others on this machine may see it)")
      ->excludes(token_file);
  command->footer(
      "Behind --: a command that starts the agent. {address} in it becomes the address to listen on, which is also in\n"
      "SHEPHERD_AGENT_ADDRESS. Only with a command can the agent's shutdown be checked.\n\n"
      "With a name: a short live check of the program, with a scripted model on this machine, a throw-away home and a\n"
      "worthless key, so no account is used. With --acp and a command: the agent is asked to run commands in a\n"
      "throw-away directory, by the model of its own settings.\n\n"
      "pass: shown and right. warn: not shown, but nothing demands it. FAIL: breaks the protocol.\n"
      "skip: not checked, and why.\n"
      "Exit codes: 0, 1 when a check failed, 2 wrong usage, 3 no agent answers, 4 it does not let us in.\n\n"
      "Examples:\n"
      "  shepherd agent test --stream 127.0.0.1:50051\n"
      "  shepherd agent test goose\n"
      "  shepherd agent test --acp goose\n"
      "  shepherd agent test --acp -- ./my-agent\n"
      "  shepherd agent test --junit report.xml -- ./my-agent {address}");
  command->callback([options, &context] { context.action = [options, &context] { return test(context, *options); }; });
}

}  // namespace shepherd
