#include "tools/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/drain.h"
#include "net/timers.h"
#include "tools/command_rule.h"
#include "tools/limits.h"
#include "tools/shell_process.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kRunProperties = R"({"command":{"type":"string"},)"
                                            R"("timeout_seconds":{"type":"integer","description":"Default 120"}})";

// The loop's side of a command. Threads: strand.
class CommandRun final : public ToolRun {
 public:
  CommandRun(net::Timers& timers, std::int64_t seconds, ToolAnswer answer)
      : answer_(std::move(answer)),
        deadline_(timers, [this] { time_is_up(); }),
        news_(timers, [this] { tell(); }),
        began_(std::chrono::steady_clock::now()),
        seconds_(seconds) {}
  ~CommandRun() override {
    if (process_ != nullptr) process_->stop("the call was cancelled");
  }
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;

  std::weak_ptr<CommandRun*> self() const { return self_; }

  void begin(std::shared_ptr<ShellProcess> process) {
    process_ = std::move(process);
    process_->begin();
    deadline_.arm(began_ + std::chrono::seconds(seconds_));
    if (answer_.progress) news_.arm(began_ + kCommandProgress);
  }
  void ended(ToolOutcome outcome) {
    deadline_.disarm();
    news_.disarm();
    process_.reset();
    auto done = std::move(answer_.done);  // it destroys this object
    done(std::move(outcome));
  }

 private:
  void time_is_up() { process_->stop(fmt::format("ended after {} s, which was its time limit", seconds_)); }
  void tell() {
    auto now = std::chrono::steady_clock::now();
    auto passed = std::chrono::duration_cast<std::chrono::seconds>(now - began_);
    std::string line = process_->last_line();
    news_.arm(now + kCommandProgress);
    answer_.progress(fmt::format("still runs after {} s{}{}", passed.count(), line.empty() ? "" : ": ", line));
  }

  std::shared_ptr<CommandRun*> self_ = std::make_shared<CommandRun*>(this);
  ToolAnswer answer_;
  std::shared_ptr<ShellProcess> process_;
  net::Timer deadline_, news_;
  const net::TimePoint began_;
  const std::int64_t seconds_;
};

class RunCommand final : public BuiltInTool {
 public:
  explicit RunCommand(RunCommandParts parts)
      : parts_(std::move(parts)),
        timers_(parts_.loop, {}),
        tool_(built_in_tool("run_command", "Runs a command with sh in the directory of files. It has no input.",
                            kRunProperties, R"(["command"])", true)) {}
  ~RunCommand() override { drain_.wait(); }
  RunCommand(const RunCommand&) = delete;
  RunCommand& operator=(const RunCommand&) = delete;

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    return "Runs " + shown_line(arguments.shown("command"), kMaxDescribedCharacters);
  }
  std::string rule(const Arguments& arguments) const override { return command_rule(arguments.shown("command")); }
  std::unique_ptr<ToolRun> start(const ToolInvocation& /*use*/, const Arguments& arguments,
                                 ToolAnswer answer) override {
    auto command = checked_command(arguments);
    if (!command) return answer_later(parts_.loop, failed_outcome(command.error().message), std::move(answer));
    auto seconds =
        arguments.number_or("timeout_seconds", std::min(kCommandSeconds, parts_.max_seconds), 1, parts_.max_seconds);
    if (!seconds) return answer_later(parts_.loop, failed_outcome(seconds.error().message), std::move(answer));
    if (running_->load() >= kMaxCommands) {
      return answer_later(parts_.loop, failed_outcome("too many commands run at this time. Try it again later."),
                          std::move(answer));
    }
    auto run = std::make_unique<CommandRun>(timers_, *seconds, std::move(answer));
    running_->fetch_add(1);
    auto done = [&loop = parts_.loop, self = run->self(), running = running_](ToolOutcome outcome) {
      running->fetch_sub(1);
      loop.post([self, outcome = std::move(outcome)]() mutable {
        if (auto alive = self.lock()) (*alive)->ended(std::move(outcome));
      });
    };
    run->begin(std::make_shared<ShellProcess>(spec_of(*std::move(command)), parts_.clock, parts_.blocking,
                                              Drain::Pass(drain_), std::move(done)));
    return run;
  }

 private:
  static Result<std::string> checked_command(const Arguments& arguments) {
    auto command = arguments.text("command");
    if (!command) return command;
    if (command->find('\0') != std::string::npos) {
      return fail(ErrorCode::invalid_argument, "bad_tool_arguments", "\"command\" must have no NUL character.");
    }
    if (command->size() > kMaxShellCommandBytes) {
      return fail(ErrorCode::invalid_argument, "bad_tool_arguments",
                  fmt::format("\"command\" has more than {} bytes. Write a file and run it.", kMaxShellCommandBytes));
    }
    return command;
  }
  AgentSpec spec_of(std::string command) const {
    AgentSpec spec;
    spec.command = {"/bin/sh", "-c", "--", std::move(command)};
    spec.environment = parts_.environment;
    spec.directory = parts_.directory;
    spec.with_stdin = false;
    spec.warden_program = parts_.warden_program;
    spec.confinement = parts_.confinement;
    return spec;
  }

  const RunCommandParts parts_;
  net::Timers timers_;
  const Tool tool_;
  std::shared_ptr<std::atomic<std::size_t>> running_ = std::make_shared<std::atomic<std::size_t>>(0);
  Drain drain_;
};

}  // namespace

std::unique_ptr<BuiltInTool> make_run_command(RunCommandParts parts) {
  return std::make_unique<RunCommand>(std::move(parts));
}

}  // namespace shepherd
