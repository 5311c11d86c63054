// shepherd replay: shows a log again at its original pace.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cli/event_printer.h"
#include "cli/limits.h"
#include "cli/replay_pace.h"
#include "cli/task_names.h"
#include "cli/verbs.h"
#include "json/scan.h"
#include "terminal/span_text.h"
#include "terminal/terminal_keys.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

struct ReplayOptions {
  ServerOptions server;
  std::string task, speed = "1";
  std::uint64_t from = 1;
  std::optional<std::uint64_t> to;
  double idle_seconds = std::chrono::duration<double>(kReplayIdle).count();
  bool json = false, brief = false;
};

// Reads the events of a log one by one, a page at a time.
// Threads: caller.
class LogReader {
 public:
  LogReader(ApiClient& client, std::string task, std::uint64_t after, std::uint64_t last)
      : client_(client), task_(std::move(task)), after_(after), last_(last) {}

  // nullopt at the end.
  Result<std::optional<std::string>> next() {
    if (used_ == page_.events.size() && after_ < last_) {
      Result<LogPage> page =
          client_.events(task_, {{"after", std::to_string(after_)}, {"limit", std::to_string(kReplayPage)}});
      if (!page) return fail(page.error());
      page_ = *std::move(page);
      used_ = 0;
    }
    if (used_ == page_.events.size()) return std::nullopt;
    std::string event = std::move(page_.events[used_++]);
    after_ = count_value(find_member(event, "sequence")).value_or(0);
    if (after_ > last_ || after_ == 0) return std::nullopt;
    return event;
  }

 private:
  ApiClient& client_;
  std::string task_;
  std::uint64_t after_, last_;
  LogPage page_;
  std::size_t used_ = 0;
};

// Threads: caller.
class Player {
 public:
  Player(Context& context, const ReplayOptions& options, std::uint64_t last)
      : context_(context),
        options_(options),
        events_(
            context.out, [this] { return connect_server(context_, options_.server); }, options.brief),
        pace_(options.speed, std::chrono::milliseconds(static_cast<std::int64_t>(options.idle_seconds * 1'000))),
        last_(last) {}

  // True: played to the end; false: the person ended it.
  Result<bool> play(LogReader& log) {
    while (true) {
      Result<std::optional<std::string>> event = log.next();
      if (!event) return fail(event.error());
      if (!*event) break;
      EventLine line = event_line(**event);
      if (line.passing && !options_.json) continue;
      pace_.next_event(line.timestamp_ms);
      bool pausing = pace_.left().count() > 0;
      if (pausing) context_.out.flush();
      if (!wait()) return false;
      show(**event, line);
      if (context_.out.closed()) return false;
    }
    context_.out.status("");
    return true;
  }

 private:
  // False: stop here.
  bool wait() {
    while (true) {
      std::chrono::milliseconds left = pace_.left();
      if (left.count() > 0 || paused_) say_where();
      std::int64_t begun_ms = clock_.steady_ms();
      // Even at full speed, polls the keys from time to time.
      if (left.count() == 0 && !paused_ && begun_ms - looked_ms_ < kReplayLook.count()) return true;
      looked_ms_ = begun_ms;
      int key = keys_.wait(paused_ ? std::nullopt : std::optional(left));
      if (!paused_) pace_.passed(std::chrono::milliseconds(clock_.steady_ms() - begun_ms));
      if (key == TerminalKeys::kEnd || key == 'q' || key == 'Q') return false;
      if (key == ' ' || key == 'p') {
        paused_ = !paused_;
      } else if (key == '+' || key == '=') {
        pace_.faster();
      } else if (key == '-' || key == '_') {
        pace_.slower();
      } else if (key == 'n' || key == '\n') {
        pace_.skip();
        return true;
      } else if (key == TerminalKeys::kNone && !paused_ && pace_.left().count() == 0) {
        return true;
      }
    }
  }

  void show(std::string_view event, const EventLine& line) {
    shown_ = line.sequence;
    if (options_.json) {
      context_.out.json_line(event);
      return;
    }
    if (started_ms_ == 0 || line.timestamp_ms < started_ms_) started_ms_ = line.timestamp_ms;
    std::string when = fmt::format("{:>8}", "+" + elapsed_text(line.timestamp_ms - started_ms_));
    events_.print(options_.task, event, line, when);
  }

  void say_where() {
    if (!keys_.listens()) return;
    std::string text =
        fmt::format("{}  {} of {}  {}   space {}  n next  +/- speed  q quit", paused_ ? "paused " : "playing", shown_,
                    last_, pace_.text(), paused_ ? "play" : "pause");
    context_.out.status(context_.out.paint(Color::dim, cut_to(text, context_.out.columns() - 1)));
  }

  Context& context_;
  const ReplayOptions& options_;
  EventPrinter events_;
  TerminalKeys keys_;
  SystemClock clock_;
  ReplayPace pace_;
  std::uint64_t last_;
  std::uint64_t shown_ = 0;
  std::int64_t started_ms_ = 0, looked_ms_ = 0;
  bool paused_ = false;
};

Result<ExitCode> replay(Context& context, ReplayOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<TaskView> task = find_task(*client, options.task);
  if (!task) return fail(task.error());
  options.task = task->id;
  std::uint64_t last = std::min(options.to.value_or(task->last_sequence), task->last_sequence);
  if (options.from == 0 || options.from > std::max<std::uint64_t>(last, 1)) {
    return fail(ErrorCode::invalid_argument, "bad_range",
                fmt::format("there is nothing from {} to {}; the log has {} events", options.from,
                            options.to.value_or(task->last_sequence), task->last_sequence));
  }
  if (last == 0) context.err.line("The log is empty.");
  if (task->first_sequence > options.from) {
    context.err.line(fmt::format("Events {} to {} are past retention and gone.", options.from,
                                 std::min(task->first_sequence - 1, last)));
  }
  if (!options.json && context.out.is_terminal()) {
    context.out.line(context.out.paint(Color::bold, terminal_text(task->label(), Lines::join)));
  }
  LogReader log(*client, options.task, options.from - 1, last);
  Result<bool> played(true);
  {
    Player player(context, options, last);
    played = player.play(log);
    context.out.status("");
  }
  if (!played) return fail(played.error());
  if (*played && !task->ended() && !options.to && !options.json) {
    context.err.line(fmt::format("The task goes on: shepherd watch {} --after {}", task->id, last));
  }
  return ExitCode::ok;
}

}  // namespace

void add_replay_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Play a task's log again, at its own pace");
  command->add_option("TASK", options->task, kTaskHelp)->required();
  command->add_option("--speed", options->speed, "Playback speed; max: without pauses")
      ->check(CLI::IsMember(ReplayPace::speeds()))
      ->capture_default_str();
  command->add_option("--from", options->from, "First event number")->capture_default_str();
  command->add_option("--to", options->to, "Last event number");
  command->add_option("--idle", options->idle_seconds, "Shorten longer pauses to this many seconds (before speed)")
      ->check(CLI::Range(0.0, 3'600.0))
      ->capture_default_str();
  command->add_flag("--brief", options->brief, "One line per event; otherwise the agent's text is printed in full");
  command->add_flag("--json", options->json, "Events as JSON, one per line, at their own pace");
  add_server_options(*command, options->server);
  command->footer(
      "On a terminal: space pauses, n shows the next event at once, + and - change the speed, q ends.\n\n"
      "Examples:\n  shepherd replay TASK\n  shepherd replay TASK --speed 8\n"
      "  shepherd replay TASK --from 100 --to 200 --speed max");
  command->callback(
      [options, &context] { context.action = [options, &context] { return replay(context, *options); }; });
}

}  // namespace shepherd
