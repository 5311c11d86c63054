// shepherd watch: one task, or all of them, live.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "app/commands.h"
#include "app/event_line.h"
#include "app/span_text.h"
#include "app/terminal_text.h"
#include "base/clock.h"
#include "base/random.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct Options {
  ServerOptions server;
  std::string task, types;
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> tail;
  bool json = false;
};

std::string local_time(std::int64_t wall_ms) {
  std::time_t seconds = wall_ms / 1'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// Prints what the live client brings. Events go to standard output, remarks about the connection to standard error.
// Threads: caller.
class Printer final : public LiveListener {
 public:
  Printer(Context& context, const Options& options, std::int64_t started_ms, bool ended)
      : context_(context), options_(options), started_ms_(started_ms), said_live_(ended) {}

  bool on_event(std::string_view task, std::uint64_t, std::string_view event) override {
    if (options_.json) {
      context_.out.json_line(event);
    } else {
      print(task, event_line(event));
    }
    if (live_) context_.out.flush();
    return !context_.out.closed();
  }

  void on_gap(std::string_view, std::uint64_t from, std::uint64_t to) override {
    // Over all tasks the range is in opaque cursors: only that something is gone can be told.
    std::string range = to == 0 ? std::string("older events") : fmt::format("events {} to {}", from, to);
    remark(range + " are past retention and gone", Color::yellow);
  }

  void on_state(const LiveChange& change) override {
    live_ = change.state == LiveState::live;
    context_.out.flush();
    if (change.state == LiveState::disconnected) {
      remark(fmt::format("connection lost ({}); trying again …", change.why), Color::yellow);
    } else if (change.state == LiveState::connected && change.down_ms > 0) {
      remark(fmt::format("connected again after {}; nothing is missed", elapsed_text(change.down_ms)), Color::green);
    } else if (change.state == LiveState::live && !said_live_) {
      said_live_ = true;
      if (context_.out.is_terminal()) remark("live; waiting for new events (Ctrl-C to leave)", Color::dim);
    }
  }

  void on_complete(std::string_view task, std::string_view data) override {
    boost::system::error_code error;
    json::value value = json::parse(data, error);
    const json::object* end = error ? nullptr : value.if_object();
    auto text = [&](std::string_view name) {
      const json::value* member = end == nullptr ? nullptr : end->if_contains(name);
      return member != nullptr && member->is_string() ? std::string(member->get_string()) : std::string();
    };
    std::string status = text("status");
    completed_ = status == "completed" || status == "Succeeded";
    context_.out.flush();
    std::string line = options_.task.empty() ? fmt::format("{} {}", task, status) : status;
    if (std::string why = text("error"); !why.empty()) line += ": " + why;
    if (const json::value* cost = end == nullptr ? nullptr : end->if_contains("costUSD");
        cost != nullptr && cost->is_number()) {
      double usd = cost->to_number<double>(error);
      if (usd > 0) line += fmt::format(", ${:.2f}", usd);
    }
    if (std::string pr = text("prURL"); !pr.empty()) line += ", " + pr;
    remark(line, completed_ ? Color::green : Color::red);
  }

  bool completed() const { return completed_; }

 private:
  void print(std::string_view task, const EventLine& line) {
    std::string when;
    if (options_.task.empty()) {
      when = fmt::format("{}  {}", local_time(line.timestamp_ms), terminal_text(task, Lines::join));
    } else {
      if (started_ms_ == 0 || line.timestamp_ms < started_ms_) started_ms_ = line.timestamp_ms;
      when = fmt::format("{:>8}", "+" + elapsed_text(line.timestamp_ms - started_ms_));
    }
    context_.out.line(painted_line(context_.out, line, when));
  }

  void remark(std::string_view text, Color color) {
    context_.err.line(context_.err.paint(color, fmt::format("-- {}", terminal_text(text, Lines::join))));
    context_.err.flush();
  }

  Context& context_;
  const Options& options_;
  std::int64_t started_ms_;
  bool live_ = false;
  bool said_live_;  // or there is nothing to wait for
  bool completed_ = false;
};

Result<ExitCode> watch(Context& context, const Options& options) {
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
    Result<TaskView> task = client->task(options.task);
    if (!task) return fail(task.error());
    ended = task->ended();
    started_ms = parse_timestamp(task->created_at).value_or(0);
    if (options.tail == std::uint64_t{0}) follow.after = task->last_sequence;  // nothing old, only what comes
    if (!options.json && context.out.is_terminal()) {
      context.out.line(context.out.paint(Color::bold, terminal_text(task->label(), Lines::join)));
    }
  }
  SystemClock clock;
  SystemRandom random;
  LiveClient live([&] { return locate_server(context, options.server); }, std::move(follow), clock, random,
                  options.server.tls());
  Printer printer(context, options, started_ms, ended);
  Result<bool> end = live.run(printer);
  if (!end) return fail(end.error());
  if (!*end) return ExitCode::ok;  // the reader of our output went away
  return printer.completed() ? ExitCode::ok : ExitCode::task_failed;
}

}  // namespace

void add_watch_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("watch", "Follow a task live, over server restarts too");
  command->add_option("TASK", options->task, "The task's id; without one, all tasks from now on");
  auto* after = command->add_option("--after", options->after, "Begin after this event number");
  command->add_option("--tail", options->tail, "Begin with the newest N events")->excludes(after);
  command->add_option("--types", options->types, "Only these event types (comma-separated)");
  command->add_flag("--json", options->json, "Events as JSON, one a line");
  add_server_options(*command, options->server);
  command->footer(
      "Ends with the task: exit code 0 when it completed, 7 when it failed, timed out or was cancelled.\n\n"
      "Examples:\n  shepherd watch TASK\n  shepherd watch TASK --tail 20\n"
      "  shepherd watch TASK --types tool_call,error --json | jq -r .summary");
  command->callback([options, &context] { context.action = [options, &context] { return watch(context, *options); }; });
}

}  // namespace shepherd
