// shepherd run: runs an agent here, visible to everyone connected to the server.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/detach.h"
#include "cli/help_format.h"
#include "cli/known_agents.h"
#include "cli/pending_delivery.h"
#include "cli/run_tasks.h"
#include "cli/task_file.h"
#include "cli/terminal_run.h"
#include "cli/verbs.h"
#include "config/agent_confinement.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

struct RunOptions {
  ServerOptions server;
  RunRequest request;
  std::string timeout, config_file, rules, confine;
  std::string tasks_file;
  int parallel = 0;  // 0: the file's value
  bool detach = false, json = false, brief = false;
};

Result<LoadedConfig> load(const Context& context, const RunOptions& options) {
  ConfigInputs inputs{options.config_file, {}};
  if (!options.server.data.empty()) inputs.flags.emplace_back("data", options.server.data);
  if (!options.rules.empty()) inputs.flags.emplace_back("runners.rules", options.rules);
  if (!options.confine.empty()) inputs.flags.emplace_back("runners.confine", options.confine);
  return load_config(inputs, context.environment);
}

Result<Config> configuration(const Context& context, const RunOptions& options, bool quiet) {
  Result<LoadedConfig> loaded = load(context, options);
  if (!loaded) return fail(std::move(loaded.error()));
  // The terminal shows the task's log.
  bool chosen = loaded->sources.at("log.level") != "default";
  for (std::string* path : {&loaded->config.data, &loaded->config.rules}) {
    std::error_code error;  // absolute, because agents work in other directories
    if (!path->empty()) *path = std::filesystem::absolute(*path, error).lexically_normal().string();
  }
  start_log(quiet ? "off" : chosen ? loaded->config.log_level : "error");
  return loaded->config;
}

Result<void> check(RunRequest& request, const std::string& timeout, const Config& config) {
  if (request.prompt.empty() && request.command.empty() && request.resume_of.empty()) {
    return fail(ErrorCode::invalid_argument, "nothing_to_run",
                "say what to do: shepherd run \"fix the failing test\", shepherd run -- make test, or shepherd run "
                "--tasks tasks.yaml");
  }
  if (!request.prompt.empty() && !request.command.empty()) {
    return fail(ErrorCode::invalid_argument, "two_things_to_run", "give a prompt or, after --, a command; not both");
  }
  if (request.prompt.empty() && request.command.empty()) request.prompt = "Continue.";
  if (Result<void> known = check_agent(config, request); !known) return known;
  if (!timeout.empty()) {
    Result<std::int64_t> seconds = parse_span_seconds(timeout);
    if (!seconds) return fail(std::move(seconds.error()));
    request.timeout_seconds = *seconds;
  }
  return {};
}

void say_start(Context& context, const TaskRun& run, const RunHost& host, bool json) {
  std::string link = host.link();
  if (json) {
    context.out.line(fmt::format(R"({{"taskID":"{}","link":"{}"}})", run.order().task, link));
    return context.out.flush();
  }
  context.err.line(context.err.paint(Color::dim, fmt::format("-- {} at {}", run.order().task, link)));
  if (isatty(0) == 1 && context.out.is_terminal()) {
    context.err.line(
        context.err.paint(Color::dim, "-- type to steer it, or to answer what it asks; Ctrl-C interrupts it"));
  }
  context.err.flush();
}

void say_end(Context& context, const TaskOutcome& outcome, const RunRequest& request) {
  if (outcome.cause == EndCause::deleted) {
    context.complain(
        "the task was deleted on the server, so its agent was stopped and the rest of its log belongs nowhere" +
        (outcome.drained.spool_path.empty() ? "" : "; it is kept in " + outcome.drained.spool_path));
  } else if (!outcome.drained.everything && !outcome.drained.spool_path.empty()) {
    context.complain(
        fmt::format("the server does not have all of the log yet; the rest is in {}, and the next "
                    "\"shepherd run\" or \"shepherd doctor\" delivers it",
                    outcome.drained.spool_path));
  }
  if (request.worktree && outcome.work) {
    context.err.line(context.err.paint(
        Color::dim, fmt::format("-- its work is in {} on branch {}", outcome.directory, outcome.work->branch)));
  }
  context.err.flush();
}

void say_delivered(Context& context, const PendingDelivered& delivered) {
  if (delivered.events > 0) {
    context.err.line(context.err.paint(
        Color::dim, fmt::format("-- delivered {} events that hooks or an earlier run left behind", delivered.events)));
  }
  for (const std::string& path : delivered.set_aside) {
    context.err.line(context.err.paint(
        Color::dim,
        fmt::format("-- the task of an earlier run was deleted; what was left of its log is set aside in {}", path)));
  }
  context.err.flush();
}

Result<ExitCode> run_one(Context& context, LocalRunner& runner, RunHost& host, const EndSignals& signals,
                         const RunOptions& options, const Detached* detached) {
  Result<std::unique_ptr<TaskRun>> run = runner.start(options.request);
  if (!run) return fail(std::move(run.error()));
  if (detached != nullptr) {
    detached->started((*run)->order().task, host.link());
  } else {
    say_start(context, **run, host, options.json);
  }
  TaskOutcome outcome =
      run_at_terminal(context, runner, **run, host, signals, {options.json, options.brief, detached != nullptr});
  if (detached == nullptr) say_end(context, outcome, options.request);
  return exit_code_of(outcome.state);
}

Result<ExitCode> run_here(Context& context, const RunOptions& options, const std::vector<RunRequest>& tasks,
                          int parallel, const Detached* detached) {
  Result<Config> config = configuration(context, options, detached != nullptr);
  if (!config) return fail(std::move(config.error()));
  EndSignals signals;
  Result<std::unique_ptr<RunHost>> host = RunHost::open(context.environment, context.err, options.server, *config);
  if (!host) return fail(std::move(host.error()));
  ExitCode code = ExitCode::failed;
  {
    LocalRunner runner(*config, **host, options.server.tls());
    PendingDelivery pending(runner);
    Result<ExitCode> ran = tasks.empty()
                               ? run_one(context, runner, **host, signals, options, detached)
                               : run_tasks(context, runner, **host, signals, tasks, {parallel, options.json, detached});
    signals.unblock();
    PendingDelivered delivered = pending.finish();
    if (detached == nullptr) say_delivered(context, delivered);
    if (!ran) return ran;
    code = *ran;
  }
  context.out.flush();
  // A person who does not want to wait for the other runs may end this process; one of them then hosts the server.
  if (detached == nullptr && (*host)->others_need_us()) {
    context.err.line(context.err.paint(Color::dim, "-- other runs use this server; staying until they have ended"));
    context.err.flush();
  }
  return code;
}

Result<ExitCode> run(Context& context, RunOptions& options) {
  options.request.command = context.after_dashes;
  Result<LoadedConfig> loaded = load(context, options);
  if (!loaded) return fail(std::move(loaded.error()));
  std::vector<RunRequest> tasks;
  int parallel = 1;
  if (options.tasks_file.empty()) {
    if (Result<void> right = check(options.request, options.timeout, loaded->config); !right)
      return fail(std::move(right.error()));
  } else {
    Result<TaskFile> file = read_task_file(options.tasks_file, options.request, loaded->config);
    if (!file) return fail(std::move(file.error()));
    tasks = std::move(file->tasks);
    parallel = options.parallel > 0 ? options.parallel : file->parallel;
  }
  for (const RunRequest& request : tasks.empty() ? std::vector<RunRequest>{options.request} : tasks) {
    if (Result<void> right = check_place(request); !right) return fail(std::move(right.error()));
    if (!request.resume_of.empty()) continue;  // the task to resume is checked first
    if (Result<void> here = check_program(loaded->config, request); !here) return fail(std::move(here.error()));
  }
  if (!options.detach) return run_here(context, options, tasks, parallel, nullptr);
  return detach(context,
                [&](const Detached& detached) { return run_here(context, options, tasks, parallel, &detached); });
}

}  // namespace

void add_run_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run an agent or any command here; watch it and steer it");
  RunRequest& request = options->request;
  command->add_option("PROMPT", request.prompt, "What to do; or, after --, a command to run");
  CLI::Option* agent = command
                           ->add_option("--agent", request.agent,
                                        "The agent, by a name that shepherd agents lists, or grpc with --address")
                           ->capture_default_str();
  command->add_option("--address", request.address, "Address of the agent grpc: HOST:PORT");
  command->add_option("--program", request.program, "The agent's program (default: claude.program, else from PATH)");
  command->add_option("--model", request.model, "Model to use");
  command->add_option("--mode", request.mode, "interactive: it asks before it acts; autonomous: it decides")
      ->check(CLI::IsMember({"interactive", "autonomous"}));
  command->add_option("--max-turns", request.max_turns, "Maximum number of turns")->check(count_check(0));
  command->add_option("--budget", request.budget_usd, "Spending limit in US dollars")->check(amount_check());
  command->add_option("--timeout", options->timeout, "Time limit: 90s, 30m, 2h");
  command->add_option("--allow", request.allowed_tools, "Tool it may use without asking; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--directory,-C", request.directory, "Working directory (default: here)");
  command->add_flag("--worktree", request.worktree, "Work in a separate git work tree, on branch shepherd/TASK");
  add_confine_option(*command, options->confine);
  command->add_option("--rules", options->rules,
                      "Instructions given in addition to the task: a file, or a directory of *.md files");
  command->add_option("--resume", request.resume_of,
                      "Continue the conversation of this earlier task (id, unique prefix, or - for the newest)");
  command->add_flag("--keep-open", request.keep_open, "When a turn is over, wait for further instructions");
  command->add_option("--id", request.id, "Task id (default: generated)");
  command->add_option("--title", request.name, "Task title");
  command->add_option("--tasks", options->tasks_file, "Run the tasks in this YAML file");
  command->add_option("--parallel", options->parallel, "With --tasks: how many run at once")->check(CLI::Range(1, 256));
  command->add_flag("--detach", options->detach, "Run in the background; prints the task id");
  command->add_flag("--brief", options->brief, "One line per event; otherwise the agent's text is printed in full");
  command->add_flag("--json", options->json, "JSON, one object per line: task id and link, then the events");
  command->add_option("--config", options->config_file, "Configuration file");
  add_server_options(*command, options->server);
  add_internal_option(*command, options->server);
  command->footer(
      "If no server is running, it hosts one until the last run has ended. Exit codes: 0 completed, 7 failed,\n"
      "8 timed out, 9 stopped; with --tasks the worst of them.\n\n"
      "Examples:\n  shepherd run \"fix the failing test\"\n  shepherd run --worktree --mode autonomous --budget 2 "
      "\"add a "
      "changelog\"\n"
      "  shepherd run --agent grpc --address 127.0.0.1:50051 \"audit the notes\"\n"
      "  shepherd run -- make test\n  shepherd run --tasks tasks.yaml --parallel 4\n\n"
      "A task file:\n"
      "  parallel: 2\n"
      "  tasks:\n"
      "    - name: docs\n      prompt: bring the README up to date\n      worktree: true\n      budget: 1.50\n"
      "    - name: tests\n      command: [make, test]\n      timeout: 10m");
  command->callback([options, &context, agent] {
    options->request.agent_given = agent->count() > 0;
    context.action = [options, &context] { return run(context, *options); };
  });
}

}  // namespace shepherd
