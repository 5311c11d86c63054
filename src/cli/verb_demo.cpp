#include "cli/verb_demo.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/demo_scripts.h"
#include "cli/run_tasks.h"
#include "demo/agent.h"
#include "json/write.h"

namespace shepherd {
namespace {

struct DemoOptions {
  ServerOptions server;
  std::string config_file;
  bool json = false;
};

Result<Config> configuration(const Context& context, const DemoOptions& options) {
  ConfigInputs inputs{options.config_file, {}};
  if (!options.server.data.empty()) inputs.flags.emplace_back("data", options.server.data);
  Result<LoadedConfig> loaded = load_config(inputs, context.environment);
  if (!loaded) return fail(std::move(loaded.error()));
  if (!loaded->config.data.empty()) {
    std::error_code error;  // absolute, because agents work in other directories
    loaded->config.data = std::filesystem::absolute(loaded->config.data, error).lexically_normal().string();
  }
  start_log(loaded->sources.at("log.level") != "default" ? loaded->config.log_level : "error");
  return loaded->config;
}

// The program to start as the agent: this one, in its other role.
Result<std::string> make_agent_program(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) std::filesystem::create_directories(directory, error);
  std::filesystem::path program = directory / "demo-agent";
  std::ofstream file(program, std::ios::trunc);
  file << "#!/bin/sh\nexec \"" << self.string() << "\" " << kDemoAgentCommand << " \"$@\"\n";
  file.close();
  if (error || !file || chmod(program.c_str(), 0700) != 0) {
    return fail(ErrorCode::unavailable, "io_error", fmt::format("cannot write {}", program.string()));
  }
  return program.string();
}

std::vector<RunRequest> demo_tasks(const std::string& program, const std::string& directory) {
  std::vector<RunRequest> tasks;
  for (const DemoAgent& agent : demo_agents()) {
    RunRequest request;
    request.name = agent.title;
    request.prompt = agent.prompt;
    request.model = agent.model;
    request.mode = agent.mode;
    request.program = program;
    request.directory = directory;
    request.environment["SCRIPTED_AGENT"] = agent.script;
    request.labels["demo"] = "true";
    tasks.push_back(std::move(request));
  }
  return tasks;
}

// Creates a task without an agent and posts its events: a review with findings.
Result<void> post_review(const RunHost& host) {
  Result<Destination> destination = host.locate();
  if (!destination) return fail(std::move(destination.error()));
  Result<ApiClient> api = ApiClient::create(*std::move(destination), host.tls());
  if (!api) return fail(std::move(api.error()));
  Result<CreatedTask> task = api->create_task(
      R"({"title":"Nightly security review","prompt":"Review what changed today.","labels":{"demo":"true"}})");
  if (!task) return fail(std::move(task.error()));
  std::string lines;
  for (const std::string& event : demo_review()) lines += event + "\n";
  lines += R"({"type":"status","summary":"3 findings","data":{"state":"completed","message":"3 findings"}})";
  Result<Posted> posted = api->post_events(task->task.id, lines + "\n");
  if (!posted) return fail(std::move(posted.error()));
  return {};
}

void say_start(Context& context, const RunHost& host, bool json) {
  if (json) {
    std::string line = object_text([&](JsonObject& object) {
      object.text("event", "demo");
      object.text("link", host.link());
    });
    context.out.line(line);
    return context.out.flush();
  }
  context.err.line(fmt::format("The demo runs: open {}", host.link()));
  context.err.line(
      "These agents use no model and touch no files. One will ask you to approve a push, one has a question:");
  context.err.line("  answer on the page, or with \"shepherd inbox\" in another terminal. Ctrl-C ends the demo.");
  context.err.flush();
}

Result<ExitCode> demo(Context& context, const DemoOptions& options) {
  Result<Config> config = configuration(context, options);
  if (!config) return fail(std::move(config.error()));
  EndSignals signals;
  Result<std::unique_ptr<RunHost>> host = RunHost::open(context.environment, context.err, options.server, *config);
  if (!host) return fail(std::move(host.error()));
  std::filesystem::path directory = std::filesystem::path(config->data) / "demo";
  Result<std::string> program = make_agent_program(directory);
  if (!program) return fail(std::move(program.error()));
  say_start(context, **host, options.json);
  if (Result<void> posted = post_review(**host); !posted) return fail(std::move(posted.error()));
  LocalRunner runner(*config, **host, options.server.tls());
  std::vector<RunRequest> tasks = demo_tasks(*program, directory.string());
  Result<ExitCode> ran = run_tasks(
      context, runner, **host, signals, tasks,
      {.parallel = static_cast<int>(tasks.size()), .json = options.json, .link_shown = true, .first_stops = true});
  signals.unblock();
  if (!ran) return ran;
  return ExitCode::ok;  // one of the demo tasks fails on purpose
}

}  // namespace

int demo_agent_main(int argc, char** argv) try {
  scripted::Script script = scripted::script_from_environment();
  // Skips the program's name and the name of the role.
  scripted::Options options = scripted::parse_options(argc - 1, argv + 1, script.refuses);
  if (!options.error.empty()) {
    std::fprintf(stderr, "%s\n", options.error.c_str());
    return 1;
  }
  if (options.version) {
    std::puts(script.version.c_str());
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);
  scripted::Agent agent(options, std::move(script));
  return agent.run();
} catch (const std::exception& error) {
  std::fprintf(stderr, "demo-agent: %s\n", error.what());
  return 70;
}

void add_demo_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand("demo", "Run a few scripted demo agents (no account needed)");
  command->add_flag("--json", options->json, "JSON, one object per line: the link, then what changes");
  command->add_option("--config", options->config_file, "Configuration file");
  add_server_options(*command, options->server);
  add_internal_option(*command, options->server);
  command->footer(
      "Without a server it hosts one itself, until it ends. The agents are scripted: no model, no account, no files\n"
      "touched; everything else is real, so approving, denying, steering, interrupting and stopping them works.\n\n"
      "Examples:\n  shepherd demo\n  shepherd inbox            # in another terminal: what needs you\n"
      "  shepherd approve TASK     # let it push");
  command->callback([options, &context] { context.action = [options, &context] { return demo(context, *options); }; });
}

}  // namespace shepherd
