#include "cli/run_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/limits.h"
#include "cli/task_board.h"
#include "host/limits.h"

namespace shepherd {
namespace {

// All tasks of a file. Each worker takes the next one until none is left. Threads: any.
class Crowd {
 public:
  Crowd(LocalRunner& runner, const RunHost& host, const std::vector<RunRequest>& tasks, const RunTasksOptions& options,
        TaskBoard& board)
      : runner_(runner),
        host_(host),
        tasks_(tasks),
        detached_(options.detached),
        first_stops_(options.first_stops),
        board_(board),
        runs_(tasks.size()) {}

  void work() {
    for (std::size_t index = next_++; index < tasks_.size(); index = next_++) {
      if (closing_) {
        board_.ended(index, State::cancelled, "not started", std::nullopt);
      } else {
        run(index);
      }
    }
  }

  void take_signal(int signal) EXCLUDES(mutex_) {
    closing_ = true;
    int count = ++signals_;
    if (signal != SIGINT || first_stops_) count = std::max(count, 2);
    board_.note(count == 1   ? "-- interrupting, and starting no more; Ctrl-C again stops all"
                : count == 2 ? "-- stopping all; Ctrl-C again kills them at once"
                             : "-- killing");
    signals_ = count;
    MutexLock lock(mutex_);
    for (const std::shared_ptr<TaskRun>& run : runs_) {
      if (run == nullptr) continue;
      if (count == 1 && run->can(CommandKind::interrupt)) {
        Command interrupt;
        interrupt.kind = CommandKind::interrupt;
        runner_.command(*run, interrupt);
      } else if (count <= 2) {
        run->end(EndCause::stopped, "stopped at the terminal");
      } else {
        run->kill();
      }
    }
  }

 private:
  void run(std::size_t index) EXCLUDES(mutex_) {
    // Waits for a server that is unreachable or being handed over, because it must have the task before the agent
    // starts.
    while (!closing_ && !host_.reachable()) std::this_thread::sleep_for(kHostLook);
    if (closing_) return board_.ended(index, State::cancelled, "not started", std::nullopt);
    Result<std::unique_ptr<TaskRun>> started =
        runner_.start(tasks_[index], [this, index](const DriverEvent& event) { board_.event(index, event); });
    if (!started) return board_.ended(index, State::failed, started.error().message, std::nullopt);
    std::shared_ptr<TaskRun> run = *std::move(started);
    {
      MutexLock lock(mutex_);
      runs_[index] = run;
    }
    board_.started(index, run->order().task);
    if (detached_ != nullptr) detached_->started(run->order().task, host_.link());
    if (closing_) run->end(EndCause::stopped, "stopped at the terminal");
    TaskOutcome outcome = run->run();
    std::string message = outcome.message;
    bool deleted = outcome.cause == EndCause::deleted;
    if (!outcome.drained.spool_path.empty() && !deleted)
      message += " (not all delivered; the rest is in " + outcome.drained.spool_path + ")";
    board_.ended(index, outcome.state, message, outcome.cost_usd);
    MutexLock lock(mutex_);
    runs_[index].reset();
  }

  LocalRunner& runner_;
  const RunHost& host_;
  const std::vector<RunRequest>& tasks_;
  const Detached* detached_;
  const bool first_stops_;
  TaskBoard& board_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> closing_ = false;
  int signals_ = 0;  // used only by the thread that takes signals
  Mutex mutex_;
  std::vector<std::shared_ptr<TaskRun>> runs_ GUARDED_BY(mutex_);
};

ExitCode worst(const std::vector<BoardRow>& rows) {
  auto any = [&](State state) {
    return std::ranges::any_of(rows, [&](const BoardRow& row) { return row.state == state; });
  };
  for (State state : {State::failed, State::timed_out, State::cancelled}) {
    if (any(state)) return exit_code_of(state);
  }
  return ExitCode::ok;
}

}  // namespace

Result<ExitCode> run_tasks(Context& context, LocalRunner& runner, RunHost& host, const EndSignals& signals,
                           const std::vector<RunRequest>& tasks, const RunTasksOptions& options) {
  SystemClock clock;
  std::vector<std::string> names;
  names.reserve(tasks.size());
  for (const RunRequest& task : tasks) names.push_back(task.name);
  TaskBoard::Form form = options.detached != nullptr ? TaskBoard::Form::silent
                         : options.json              ? TaskBoard::Form::json
                         : context.out.is_terminal() ? TaskBoard::Form::live
                                                     : TaskBoard::Form::lines;
  if (!options.link_shown && (form == TaskBoard::Form::live || form == TaskBoard::Form::lines)) {
    context.err.line(context.err.paint(
        Color::dim, fmt::format("-- {} tasks, {} at once, at {}", tasks.size(), options.parallel, host.link())));
    context.err.flush();
  }
  TaskBoard board(context, form, clock, names);
  Crowd crowd(runner, host, tasks, options, board);
  std::atomic<std::size_t> working = std::min(tasks.size(), static_cast<std::size_t>(options.parallel));
  std::vector<std::thread> workers;
  for (std::size_t i = working; i > 0; --i) {
    workers.emplace_back([&] {
      crowd.work();
      --working;
    });
  }
  while (working > 0) {
    if (int signal = signals.wait(kBoardTick); signal != 0) crowd.take_signal(signal);
    while (auto text = host.news()) board.note("-- " + *text);
    board.draw();
  }
  for (std::thread& worker : workers) worker.join();
  board.finish();
  return worst(board.rows());
}

}  // namespace shepherd
