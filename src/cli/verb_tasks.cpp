// shepherd tasks: lists, shows, creates and deletes tasks.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/approval_view.h"
#include "cli/cost_text.h"
#include "cli/open_approvals.h"
#include "cli/run_request.h"
#include "cli/task_names.h"
#include "cli/top_layout.h"
#include "cli/verbs.h"
#include "json/scan.h"
#include "model/usage_json.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"
#include "terminal/text_table.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct TasksOptions {
  ServerOptions server;
  bool json = false;
  // list
  std::string state, agent, workflow, repo, text;
  std::vector<std::string> labels;
  bool active = false;
  std::size_t limit = 50;
  // create
  std::vector<std::string> prompt;
  std::string id, new_agent, model, title, repo_url, repo_ref;
  std::vector<std::string> new_labels;
  // show, delete
  std::string task;
  bool yes = false;
};

Color color_of(std::string_view state) {
  if (state == "running" || state == "starting") return Color::cyan;
  if (state == "completed") return Color::green;
  if (state == "failed" || state == "timed_out") return Color::red;
  if (state == "waiting_for_input" || state == "paused" || state == "interrupted") return Color::yellow;
  return Color::dim;
}

std::string joined_line(std::string_view text) {
  return exact_text(text, Lines::join);
}

std::string age_of(const TaskView& task, std::int64_t now_ms) {
  Result<std::int64_t> created = parse_timestamp(task.created_at);
  return created ? age_text(now_ms - *created) : "";
}

std::string cost_of(const TaskView& task) {
  std::string cost = cost_text(task.cost_usd, task.unpriced);
  return cost.empty() ? "-" : cost;
}

Parameters filters_of(const TasksOptions& options) {
  Parameters filters;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) filters.emplace_back(name, value);
  };
  add("state", options.state);
  add("agent", options.agent);
  add("workflow", options.workflow);
  add("repo", options.repo);
  add("text", options.text);
  for (const std::string& label : options.labels) add("label", label);
  if (options.active) filters.emplace_back("active", "true");
  filters.emplace_back("limit", std::to_string(options.limit));
  return filters;
}

Result<ExitCode> list(Context& context, const TasksOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<TaskList> page = client->tasks(filters_of(options));
  if (!page) return fail(page.error());
  std::vector<TaskView> tasks = std::move(page->tasks);
  while (tasks.size() < options.limit && !page->next.empty()) {
    page = client->next_tasks(page->next);
    if (!page) return fail(page.error());
    for (TaskView& task : page->tasks) tasks.push_back(std::move(task));
  }
  if (tasks.size() > options.limit) tasks.resize(options.limit);

  if (options.json) {
    for (const TaskView& task : tasks) context.out.json_line(task.json);
    return ExitCode::ok;
  }
  std::int64_t now_ms = SystemClock().wall_ms();
  TextTable table({{"ID"}, {"STATE"}, {"AGENT"}, {"EVENTS", true}, {"COST", true}, {"AGE", true}, {"TITLE"}});
  for (const TaskView& task : tasks) {
    table.add({{joined_line(task.id), Color::bold},
               {joined_line(task.state), color_of(task.state)},
               {task.agent.empty() ? "-" : joined_line(task.agent)},
               {std::to_string(task.last_sequence)},
               {cost_of(task)},
               {age_of(task, now_ms)},
               {joined_line(task.label())}});
  }
  if (table.empty()) {
    context.err.line("No tasks. Make one: shepherd tasks create \"Fix the login bug\"");
  } else {
    table.print(context.out);
  }
  return ExitCode::ok;
}

Result<json::object> labels_of(const std::vector<std::string>& texts) {
  json::object labels;
  for (const std::string& text : texts) {
    std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::invalid_argument, "bad_label",
                  fmt::format("\"{}\" is not a label; write --label name=value", text));
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

Result<ExitCode> create(Context& context, const TasksOptions& options) {
  json::object body{{"task", json::object{{"description", fmt::format("{}", fmt::join(options.prompt, " "))}}}};
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) body[name] = value;
  };
  add("id", options.id);
  add("agent", options.new_agent);
  add("model", options.model);
  add("title", options.title);
  if (!options.repo_url.empty()) {
    json::object repo{{"url", options.repo_url}};
    if (!options.repo_ref.empty()) repo["ref"] = options.repo_ref;
    body["repo"] = std::move(repo);
  }
  if (!options.new_labels.empty()) {
    Result<json::object> labels = labels_of(options.new_labels);
    if (!labels) return fail(labels.error());
    body["labels"] = *std::move(labels);
  }
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<CreatedTask> created = client->create_task(json::serialize(body));
  if (!created) return fail(created.error());
  // Prints only the id on standard output, so that TASK=$(shepherd tasks create …) works.
  if (options.json) {
    context.out.json_line(created->task.json);
  } else {
    context.out.line(joined_line(created->task.id));
    if (!created->task.message.empty()) context.err.line(joined_line("it waits: " + created->task.message));
    if (context.out.is_terminal()) {
      context.err.line(context.err.paint(Color::dim, fmt::format("follow it: shepherd watch {}", created->task.id)));
    }
  }
  return ExitCode::ok;
}

// Shows the agent's undecided approvals in full.
void show_approvals(Context& context, ApiClient& client, const TaskView& task) {
  std::size_t columns = context.out.is_terminal() ? context.out.columns() : 0;
  for (const OpenApproval& approval : open_approvals(task.json)) {
    bool question = approval.kind == "question";
    context.out.line("");
    context.out.line(context.out.paint(
        Color::yellow, fmt::format("asks {}{}", joined_line(approval.tool.empty() ? "for approval" : approval.tool),
                                   question ? "" : ", and waits for a yes or no")));
    Result<AskedInput> input = asked_input(client, task.id, approval.sequence);
    if (!input) {
      context.out.line(fmt::format("  (cannot be read: {})", joined_line(input.error().message)));
      continue;
    }
    for (const std::string& line : asked_lines(*input, columns > 2 ? columns - 2 : 0)) context.out.line("  " + line);
    context.out.line(fmt::format("  shepherd {} {} {}{}", question ? "answer" : "approve", joined_line(task.id),
                                 shell_word(exact_text(approval.id, Lines::join)), question ? " \"…\"" : ""));
  }
}

Result<ExitCode> show(Context& context, const TasksOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<TaskView> task = find_task(*client, options.task);
  if (!task) return fail(task.error());
  if (options.json) {
    context.out.json_line(task->json);
    return ExitCode::ok;
  }
  auto field = [&](std::string_view name, std::string_view value, Color color = Color::plain) {
    if (value.empty()) return;
    context.out.line(context.out.paint(Color::dim, fmt::format("{:<12}", name)) +
                     context.out.paint(color, joined_line(value)));
  };
  field("id", task->id, Color::bold);
  field("state", task->state, color_of(task->state));
  field("title", task->title);
  field("agent", task->agent);
  field("model", task->model);
  field("message", task->message);
  field("error", task->error, Color::red);
  field("result", task->pr_url);
  field("created", task->created_at);
  field("events", task->first_sequence > 1 ? fmt::format("{} (the first {} are past retention)", task->last_sequence,
                                                         task->first_sequence - 1)
                                           : std::to_string(task->last_sequence));
  if (std::uint64_t tokens = total_tokens(find_member(task->json, "usage")); tokens > 0) {
    field("tokens", count_text(tokens));
  }
  if (task->cost_usd > 0 || task->unpriced) field("cost", cost_of(*task));
  if (!task->description.empty()) {
    context.out.line("");
    context.out.line(terminal_text(task->description, Lines::keep));
  }
  if (!task->ended()) show_approvals(context, *client, *task);
  return ExitCode::ok;
}

Result<ExitCode> remove(Context& context, const TasksOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<TaskView> task = find_task(*client, options.task);
  if (!task) return fail(task.error());
  std::string named = fmt::format("{} ({})", joined_line(task->id), joined_line(task->label()));
  if (!options.yes && isatty(STDIN_FILENO) == 1 && context.err.is_terminal()) {
    context.err.line(
        fmt::format("Delete {} and its {} events? This cannot be undone. y/n", named, task->last_sequence));
    context.err.flush();
    std::string answer;
    std::getline(std::cin, answer);
    if (answer != "y" && answer != "yes") {
      context.err.line("Nothing deleted.");
      return ExitCode::failed;
    }
  }
  if (Result<void> done = client->delete_task(task->id); !done) return fail(done.error());
  if (context.out.is_terminal()) context.out.line(fmt::format("Deleted {}.", named));
  return ExitCode::ok;
}

void add_list_options(CLI::App& command, TasksOptions& options) {
  command.add_option("--state", options.state, "Only this state")
      ->check(CLI::IsMember({"queued", "starting", "running", "waiting_for_input", "paused", "interrupted", "completed",
                             "failed", "timed_out", "cancelled"}));
  command.add_flag("--active", options.active, "Only tasks that have not ended");
  command.add_option("--agent", options.agent, "Only this agent");
  command.add_option("--label", options.labels, "Only tasks with this label (name=value); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--workflow", options.workflow, "Only this workflow");
  command.add_option("--repo", options.repo, "Only this repository");
  command.add_option("--text", options.text, "Only tasks whose title or description contains this text");
  command.add_option("--limit", options.limit, "Maximum number of tasks, newest first")->capture_default_str();
  command.add_flag("--json", options.json, "One JSON object per line");
  add_server_options(command, options.server);
}

}  // namespace

void add_tasks_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<TasksOptions>();
  CLI::App* tasks = app.add_subcommand("tasks", "List, show, create and delete tasks");
  tasks->require_subcommand(0, 1);
  add_list_options(*tasks, *options);
  tasks->footer(
      "Examples:\n  shepherd tasks --active\n  shepherd tasks --state failed --json | jq -r .id\n"
      "  shepherd tasks show TASK");
  tasks->callback([options, &context] {
    if (!context.action) context.action = [options, &context] { return list(context, *options); };
  });

  CLI::App* listed = tasks->add_subcommand("list", "List tasks; the same as shepherd tasks")->alias("ls");
  add_list_options(*listed, *options);
  listed->footer("Example:\n  shepherd tasks list --active");
  listed->callback([options, &context] { context.action = [options, &context] { return list(context, *options); }; });

  CLI::App* make = tasks->add_subcommand("create", "Create a task and print its id");
  make->add_option("PROMPT", options->prompt, "What the agent should do")->required();
  make->add_option("--id", options->id, "Your own id (letters, digits, . _ -); repeating it gives the same task");
  make->add_option("--title", options->title, "Short name for lists");
  make->add_option("--agent", options->new_agent, "The agent to run it; without one you post its events");
  make->add_option("--model", options->model, "The agent's model");
  make->add_option("--repo", options->repo_url, "Repository URL");
  make->add_option("--ref", options->repo_ref, "Branch, tag or commit");
  make->add_option("--label", options->new_labels, "A label (name=value); may be repeated")->allow_extra_args(false);
  make->add_flag("--json", options->json, "Print the task as JSON");
  add_server_options(*make, options->server);
  make->footer("Example:\n  TASK=$(shepherd tasks create Fix the login bug --label team=web)");
  make->callback([options, &context] { context.action = [options, &context] { return create(context, *options); }; });

  CLI::App* one = tasks->add_subcommand("show", "Show one task");
  one->add_option("TASK", options->task, kTaskHelp)->required();
  one->add_flag("--json", options->json, "Print the task as JSON");
  add_server_options(*one, options->server);
  one->footer("Example:\n  shepherd tasks show TASK --json | jq .usage");
  one->callback([options, &context] { context.action = [options, &context] { return show(context, *options); }; });

  CLI::App* erase = tasks->add_subcommand("delete", "Delete a task with its log and search index");
  erase->add_option("TASK", options->task, kTaskHelp)->required();
  erase->add_flag("--yes,-y", options->yes, "Do not ask first (a terminal is asked, a script is not)");
  add_server_options(*erase, options->server);
  erase->footer("Example:\n  shepherd tasks delete TASK    # cannot be undone; export it first if in doubt");
  erase->callback([options, &context] { context.action = [options, &context] { return remove(context, *options); }; });
}

}  // namespace shepherd
