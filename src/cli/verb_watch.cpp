// shepherd watch: follows one task, or all of them, live.
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "cli/live_printer.h"
#include "cli/task_names.h"
#include "cli/verbs.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

struct WatchOptions {
  ServerOptions server;
  std::string task, types;
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> tail;
  bool json = false, brief = false;
};

Result<ExitCode> watch(Context& context, WatchOptions& options) {
  std::int64_t started_ms = 0;
  bool ended = false;
  LiveOptions follow{.task = options.task,
                     .after = options.after,
                     .tail = options.tail.value_or(0),
                     .cursor = "",
                     .types = options.types};
  if (!options.task.empty()) {
    Result<ApiClient> client = connect_server(context, options.server);
    if (!client) return fail(client.error());
    Result<TaskView> task = find_task(*client, options.task);
    if (!task) return fail(task.error());
    options.task = follow.task = task->id;
    ended = task->ended();
    started_ms = parse_timestamp(task->created_at).value_or(0);
    if (options.tail == std::uint64_t{0}) follow.after = task->last_sequence;  // only new events
    if (!options.json && context.out.is_terminal()) {
      context.out.line(context.out.paint(Color::bold, terminal_text(task->label(), Lines::join)));
    }
  }
  SystemClock clock;
  SystemRandom random;
  LiveClient live([&] { return locate_server(context, options.server); }, std::move(follow), clock, random,
                  options.server.tls());
  LivePrinter printer(context,
                      {.one_task = !options.task.empty(),
                       .json = options.json,
                       .brief = options.brief,
                       .started_ms = started_ms,
                       .quiet_about_live = ended},
                      [&] { return connect_server(context, options.server); });
  Result<bool> end = live.run(printer);
  if (!end) return fail(end.error());
  if (!*end) return ExitCode::ok;  // the reader of our output closed the pipe
  return printer.completed() ? ExitCode::ok : ExitCode::task_failed;
}

}  // namespace

void add_watch_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* command = app.add_subcommand("watch", "Follow a task live, over server restarts too");
  command->add_option("TASK", options->task,
                      "Task id, a unique prefix of it, or - for the newest task; without one, all tasks from now on");
  auto* after = command->add_option("--after", options->after, "Begin after this event number");
  command->add_option("--tail", options->tail, "Begin with the newest N events")->excludes(after);
  command->add_option("--types", options->types, "Only these event types (comma-separated)");
  command->add_flag("--brief", options->brief, "One line per event; otherwise the agent's text is printed in full");
  command->add_flag("--json", options->json, "Events as JSON, one per line");
  add_server_options(*command, options->server);
  command->footer(
      "Ends with the task: exit code 0 when it completed, 7 when it failed, timed out or was cancelled.\n\n"
      "Examples:\n  shepherd watch TASK\n  shepherd watch TASK --tail 20\n"
      "  shepherd watch TASK --types tool_call,error --json | jq -r .summary");
  command->callback([options, &context] { context.action = [options, &context] { return watch(context, *options); }; });
}

}  // namespace shepherd
