// shepherd export: prints tasks and their logs as NDJSON. For each task a header line {"task":{…}}, then its events as
// the server stores them.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "cli/task_names.h"
#include "cli/verbs.h"
#include "json/scan.h"
#include "store/limits.h"

namespace shepherd {
namespace {

struct ExportOptions {
  ServerOptions server;
  std::vector<std::string> tasks;
  bool all = false, detail = false;
};

Result<void> export_task(Context& context, ApiClient& client, const TaskView& task, bool detail) {
  context.out.json_line(fmt::format(R"({{"task":{}}})", task.json));
  std::string after = "0";
  while (!context.out.closed()) {
    Parameters query{{"after", after}, {"limit", std::to_string(kMaxPageEvents)}};
    if (detail) query.emplace_back("detail", "1");
    Result<LogPage> page = client.events(task.id, query);
    if (!page) return fail(page.error());
    if (page->events.empty()) break;
    for (const std::string& event : page->events) context.out.json_line(event);
    // A page may end early because of its size, so only an empty page is the end.
    after = find_member(page->events.back(), "sequence");
  }
  return {};
}

Result<std::vector<std::string>> all_tasks(ApiClient& client) {
  std::vector<std::string> ids;
  Result<TaskList> page = client.tasks({{"limit", std::to_string(kMaxTaskPage)}});
  while (true) {
    if (!page) return fail(page.error());
    for (const TaskView& task : page->tasks) ids.push_back(task.id);
    if (page->next.empty()) return ids;
    page = client.next_tasks(page->next);
  }
}

Result<ExitCode> run(Context& context, const ExportOptions& options) {
  if (options.all == !options.tasks.empty()) {
    return fail(ErrorCode::invalid_argument, "no_tasks", "name the tasks to export, or say --all (not both)");
  }
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  std::vector<std::string> ids = options.tasks;
  if (options.all) {
    Result<std::vector<std::string>> found = all_tasks(*client);
    if (!found) return fail(found.error());
    ids.assign(found->rbegin(), found->rend());  // oldest first, so that an import creates them in this order
  }
  for (const std::string& id : ids) {
    Result<TaskView> task = options.all ? client->task(id) : find_task(*client, id);
    // With --all, a task may have been deleted since it was listed; a task that the user named must exist.
    if (!task && options.all && task.error().code == ErrorCode::not_found) continue;
    if (!task) return fail(task.error());
    Result<void> done = export_task(context, *client, *task, options.detail);
    if (!done) return fail(done.error());
  }
  return ExitCode::ok;
}

}  // namespace

void add_export_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write tasks and their events as NDJSON");
  command->add_option("TASK", options->tasks, kTaskHelp);
  command->add_flag("--all", options->all, "Every task");
  command->add_flag("--detail", options->detail, "With full content and raw records");
  add_server_options(*command, options->server);
  command->footer(
      "One line {\"task\":{…}} for each task, then one line for each of its events.\n\n"
      "Examples:\n  shepherd export TASK > task.ndjson\n  shepherd export --all --detail | zstd > all.ndjson.zst\n"
      "  shepherd export TASK | shepherd import --url http://other:8080 --internal-url http://other:8081");
  command->callback([options, &context] { context.action = [options, &context] { return run(context, *options); }; });
}

}  // namespace shepherd
