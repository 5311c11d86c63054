#include "cli/terminal_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/answer_words.h"
#include "cli/limits.h"
#include "cli/live_printer.h"
#include "client/limits.h"
#include "json/scan.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

// An approval that the agent waits for and the person was asked about. Threads: value.
struct Asked {
  std::string id, kind;
  std::string data;  // of the approval's event
  std::vector<std::string> lines;
  std::int64_t replaced_ms = 0;  // steady clock: when it replaced another question; 0: it was the first
};

// Prints the log and asks the person at the keyboard about one approval at a time. A typed line answers the question
// shown last, even if the agent asks more meanwhile.
// Threads: the printing thread; asked() from any.
class RunPrinter final : public LivePrinter {
 public:
  RunPrinter(Context& context, PrinterOptions options, Connect connect, bool asks)
      : LivePrinter(context, options, std::move(connect)), context_(context), asks_(asks && !options.json) {}

  bool on_event(std::string_view task, std::uint64_t sequence, std::string_view event) override {
    bool goes_on = LivePrinter::on_event(task, sequence, event);
    if (string_value(find_member(event, "type")) == "approval") note_approval(task, event);
    return goes_on;
  }

  // The undecided approval that the person was asked about.
  std::optional<Asked> asked() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return open_.empty() ? std::nullopt : std::optional(open_.front());
  }

 private:
  void note_approval(std::string_view task, std::string_view event) EXCLUDES(mutex_) {
    std::string_view data = find_member(event, "data");
    Asked asked{string_value(find_member(data, "approvalID")).value_or(""),
                string_value(find_member(data, "kind")).value_or(""),
                std::string(data),
                {}};
    std::string state = string_value(find_member(data, "state")).value_or("");
    if (state == "pending" || state == "open") {
      if (asks_) asked.lines = events().asked(task, event);
      bool first = false;
      {
        MutexLock lock(mutex_);
        open_.push_back(std::move(asked));
        first = open_.size() == 1;
      }
      if (first) say(open_kind());
      return;
    }
    std::optional<Asked> next;
    {
      MutexLock lock(mutex_);
      bool was_first = !open_.empty() && open_.front().id == asked.id;
      std::erase_if(open_, [&](const Asked& each) { return each.id == asked.id; });
      if (was_first && !open_.empty()) {
        open_.front().replaced_ms = clock_.steady_ms();
        next = open_.front();
      }
    }
    if (!next || !asks_) return;
    context_.out.line("");
    events().print_below(next->lines);
    context_.out.flush();
    say(next->kind);
  }

  std::string open_kind() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return open_.empty() ? "" : open_.front().kind;
  }

  void say(std::string_view kind) {
    if (asks_) remark(kind == "question" ? "type an answer, or its number" : "allow this? y or n", Color::yellow);
  }

  Context& context_;
  const bool asks_;
  SystemClock clock_;
  mutable Mutex mutex_;
  std::deque<Asked> open_ GUARDED_BY(mutex_);
};

// Reads lines that an operator types, if standard input is a terminal. Threads: caller.
class Keyboard {
 public:
  explicit Keyboard(bool on) : on_(on && isatty(0) == 1) {}
  bool on() const { return on_; }

  // The next complete line; nullopt: none yet.
  std::optional<std::string> line() {
    // In the background a read would stop the process.
    if (!on_ || tcgetpgrp(0) != getpgrp()) return std::nullopt;
    pollfd ready{0, POLLIN, 0};
    if (poll(&ready, 1, 0) > 0) {
      char bytes[4096];
      ssize_t got = read(0, bytes, sizeof bytes);
      if (got <= 0) on_ = false;
      if (got > 0) text_.append(bytes, static_cast<std::size_t>(got));
    }
    std::size_t end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  bool on_;
  std::string text_;
};

Command make_command(CommandKind kind) {
  Command command;
  command.kind = kind;
  return command;
}

// Reacts to signals in order of arrival. Threads: caller.
class Interrupts {
 public:
  Interrupts(Context& context, LocalRunner& runner, TaskRun& run, bool quiet)
      : context_(context), runner_(runner), run_(run), quiet_(quiet) {}

  void take(int signal) {
    // Only a person's Ctrl-C interrupts first; a signal from a program stops immediately.
    bool can_interrupt = signal == SIGINT && count_ == 0 && run_.can(CommandKind::interrupt);
    ++count_;
    if (can_interrupt) {
      say("interrupting; Ctrl-C again stops the task");
      runner_.command(run_, make_command(CommandKind::interrupt));
    } else if (!stopped_) {
      stopped_ = true;
      say("stopping; Ctrl-C again kills it at once");
      Command stop = make_command(CommandKind::stop);
      stop.reason = "stopped at the terminal";
      runner_.command(run_, stop);
      // Ends the run here too, because the server may accept the command but be unable to return it.
      run_.end(EndCause::stopped, stop.reason);
    } else {
      say("killing");
      run_.kill();
    }
  }

 private:
  void say(std::string_view text) {
    if (quiet_) return;
    context_.err.line(context_.err.paint(Color::yellow, fmt::format("-- {}", text)));
    context_.err.flush();
  }

  Context& context_;
  LocalRunner& runner_;
  TaskRun& run_;
  bool quiet_;
  int count_ = 0;
  bool stopped_ = false;
};

void take_typed(Context& context, LocalRunner& runner, TaskRun& run, const RunPrinter& printer, const Clock& clock,
                const std::string& line) {
  if (line.find_first_not_of(" \t") == std::string::npos) return;
  std::optional<Asked> asked = printer.asked();
  bool yes = line == "y" || line == "yes";
  bool no = line == "n" || line == "no";
  if (asked && asked->kind == "question") {
    Result<std::string> answers = answers_json(asked_questions(asked->data), {line});
    if (!answers) return context.complain(answers.error().message);
    Command answer = make_command(CommandKind::answer);
    answer.approval_id = asked->id;
    answer.answers_json = *std::move(answers);
    return runner.command(run, std::move(answer));
  }
  if (asked && asked->replaced_ms != 0 && clock.steady_ms() - asked->replaced_ms < kReadingTime.count()) {
    return context.complain("the question has just changed: read it and answer again");
  }
  if (asked && (yes || no)) {
    Command decision = make_command(yes ? CommandKind::approve : CommandKind::deny);
    decision.approval_id = asked->id;
    return runner.command(run, std::move(decision));
  }
  Command steer = make_command(CommandKind::steer);
  steer.content = line;
  runner.command(run, std::move(steer));
}

// Retries if the server is unreachable at first, because another run may be about to host it.
void show_log(Context& context, LiveClient& live, RunPrinter& printer, const std::atomic<bool>& closing) {
  for (;;) {
    Result<bool> end = live.run(printer);
    if (end || closing) return;
    if (end.error().reason == "task_deleted") return;  // the run itself ends and reports this
    if (!retryable(end.error().code)) return context.complain(end.error().message);
    std::this_thread::sleep_for(kTerminalLook);
  }
}

}  // namespace

TaskOutcome run_at_terminal(Context& context, LocalRunner& runner, TaskRun& run, RunHost& host,
                            const EndSignals& signals, const TerminalRunOptions& options) {
  std::atomic<bool> done = false;
  TaskOutcome outcome;
  std::thread worker([&] {
    outcome = run.run();
    done = true;
  });
  SystemClock clock;
  SystemRandom random;
  Keyboard keyboard(!options.quiet);
  RunPrinter printer(
      context, {.json = options.json, .brief = options.brief, .started_ms = clock.wall_ms(), .quiet_about_live = true},
      [&]() -> Result<ApiClient> {
        Result<Destination> found = host.locate();
        if (!found) return fail(std::move(found.error()));
        return ApiClient::create(*std::move(found), host.tls());
      },
      keyboard.on());
  LiveOptions follow;
  follow.task = run.order().task;
  follow.after = 0;
  LiveClient live([&] { return host.locate(); }, follow, clock, random, host.tls());
  std::atomic<bool> printed = options.quiet, closing = false;
  std::thread show;
  if (!options.quiet) {
    show = std::thread([&] {
      show_log(context, live, printer, closing);
      printed = true;
    });
  }
  Interrupts interrupts(context, runner, run, options.quiet);
  while (!done) {
    if (int signal = signals.wait(kTerminalLook); signal != 0) interrupts.take(signal);
    if (auto line = keyboard.line()) take_typed(context, runner, run, printer, clock, *line);
    while (auto text = host.news()) {
      if (!options.quiet) context.err.line(context.err.paint(Color::yellow, fmt::format("-- {}", *text)));
      context.err.flush();
    }
  }
  worker.join();
  // Waits for delivered events to be printed; undelivered ones cannot be.
  std::int64_t until_ms = clock.steady_ms() + (outcome.drained.everything ? kConnectTimeout.count() : 0);
  while (!printed && clock.steady_ms() < until_ms && signals.wait(kTerminalLook) == 0) {
  }
  closing = true;
  live.stop();
  if (show.joinable()) show.join();
  return outcome;
}

}  // namespace shepherd
