// shepherd post: adds events to a task's log, from the command line or standard input.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/task_names.h"
#include "cli/verbs.h"
#include "outbox/limits.h"
#include "terminal/line_input.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct PostOptions {
  ServerOptions server;
  std::string task, type = "log", tool, state, data, producer;
  std::vector<std::string> text;
  bool lines = false, json = false;
};

Result<std::string> one_event(const PostOptions& options) {
  json::object event{{"type", options.state.empty() ? options.type : "status"},
                     {"summary", fmt::format("{}", fmt::join(options.text, " "))}};
  if (!options.tool.empty()) event["tool"] = options.tool;
  json::object data;
  if (!options.data.empty()) {
    boost::system::error_code error;
    json::value value = json::parse(options.data, error);
    if (error || !value.is_object()) {
      return fail(ErrorCode::invalid_argument, "bad_data",
                  "--event-data must be a JSON object, for example '{\"files\": 3}'");
    }
    data = std::move(value.get_object());
  }
  if (!options.state.empty()) data["state"] = options.state;
  if (!data.empty()) event["data"] = std::move(data);
  return json::serialize(event);
}

// Posts to the task. A name that is already an id is not looked up, because a producer may only see one task.
Result<Posted> post_to(PostOptions& options, ApiClient& client, const std::string& body) {
  bool newest = options.task == "-";
  Result<Posted> done = newest ? fail(ErrorCode::not_found, "unknown_task", "")
                               : client.post_events(options.task, body, options.producer);
  if (done || done.error().code != ErrorCode::not_found) return done;
  Result<TaskView> task = find_task(client, options.task);
  if (!task && task.error().code != ErrorCode::permission_denied) return fail(std::move(task.error()));
  if (!task || task->id == options.task) return done;
  options.task = task->id;
  return client.post_events(options.task, body, options.producer);
}

void report(Context& context, const PostOptions& options, const Posted& posted, std::size_t events) {
  if (options.json) {
    context.out.json_line(fmt::format(R"({{"posted":{},"sequence":{}}})", events, posted.sequence));
  } else if (context.out.is_terminal()) {
    context.out.line(
        fmt::format("Posted {} event{}; the log is at {}.", events, events == 1 ? "" : "s", posted.sequence));
  }
}

Result<ExitCode> post_input(Context& context, PostOptions& options, ApiClient& client) {
  LineInput input(STDIN_FILENO);
  Posted posted;
  std::size_t events = 0;
  while (true) {
    Result<std::vector<std::string>> lines = input.next(kPostLines, kPostBytes);
    if (!lines) return fail(lines.error());
    if (lines->empty()) break;
    std::string body;
    for (const std::string& line : *lines) {
      body += options.lines ? json::serialize(json::object{{"type", options.type}, {"summary", line}}) : line;
      body += '\n';
    }
    Result<Posted> done = post_to(options, client, body);
    if (!done) {
      Error error = done.error();
      error.message += fmt::format(" (in the {} lines up to line {}; {} events were posted before them)", lines->size(),
                                   input.lines_read(), events);
      return fail(std::move(error));
    }
    posted = *done;
    events += lines->size();
  }
  if (events == 0) {
    return fail(ErrorCode::invalid_argument, "no_events",
                "nothing to post: give a text (shepherd post TASK \"text\") or events on standard input");
  }
  report(context, options, posted, events);
  return ExitCode::ok;
}

Result<ExitCode> post(Context& context, PostOptions& options) {
  bool from_input = options.text.empty() && options.state.empty() && options.data.empty();
  if (from_input && isatty(STDIN_FILENO) == 1) {
    return fail(ErrorCode::invalid_argument, "no_events",
                "nothing to post: give a text (shepherd post TASK \"text\") or events on standard input");
  }
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  if (from_input) return post_input(context, options, *client);
  Result<std::string> event = one_event(options);
  if (!event) return fail(event.error());
  Result<Posted> posted = post_to(options, *client, *event + "\n");
  if (!posted) return fail(posted.error());
  report(context, options, *posted, 1);
  return ExitCode::ok;
}

}  // namespace

void add_post_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<PostOptions>();
  CLI::App* command = app.add_subcommand("post", "Post events to a task's log");
  command->add_option("TASK", options->task, kTaskHelp)->required();
  command->add_option("TEXT", options->text, "One-line summary; without it, events are read from standard input");
  command->add_option("--type", options->type, "Event type: log, thinking, output, tool_call, error, …")
      ->capture_default_str();
  command->add_option("--tool", options->tool, "Name of the tool (tool_call, tool_result)");
  command->add_option("--event-data", options->data, "The event's data, a JSON object");
  command->add_option("--state", options->state, "Report the task's state, e.g. completed (an event of type status)")
      ->check(CLI::IsMember({"starting", "running", "waiting_for_input", "paused", "interrupted", "completed", "failed",
                             "timed_out", "cancelled"}));
  command->add_flag("--lines", options->lines, "Standard input is plain text: each line is one event of --type");
  command->add_option("--producer", options->producer,
                      "Strict numbering: the events' own sequence must run 1, 2, 3, … under this name");
  command->add_flag("--json", options->json, "Print the answer as JSON");
  add_server_options(*command, options->server);
  add_internal_option(*command, options->server);
  command->footer(
      "Examples:\n  shepherd post TASK --type log \"compiling\"\n  shepherd post TASK --state completed \"all done\"\n"
      "  make 2>&1 | shepherd post TASK --lines\n  shepherd post TASK < events.ndjson");
  command->callback([options, &context] { context.action = [options, &context] { return post(context, *options); }; });
}

}  // namespace shepherd
