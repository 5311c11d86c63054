#include "runner/host_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "process/limits.h"
#include "runner/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

bool is_about_files(const HostCall& call) {
  return std::holds_alternative<ReadFile>(call.request) || std::holds_alternative<WriteFile>(call.request);
}

std::unexpected<Error> no_terminal(const std::string& name) {
  return fail(ErrorCode::not_found, "unknown_terminal",
              fmt::format("there is no terminal \"{}\"; it may have been released.",
                          shown_line(name, kMaxShownPathCharacters)));
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

// Later values take the place of earlier ones.
Result<void> add_variable(std::vector<std::string>& environment, const std::string& variable) {
  std::size_t equals = variable.find('=');
  if (equals == std::string::npos || equals == 0 || has_nul(variable)) {
    return fail(ErrorCode::invalid_argument, "bad_variable", "a variable of a terminal needs a name and no NUL.");
  }
  std::string name = variable.substr(0, equals + 1);
  std::erase_if(environment, [&](const std::string& each) { return each.starts_with(name); });
  environment.push_back(variable);
  return {};
}

}  // namespace

void add_end(AgentEnd& to, AgentEnd of) {
  std::size_t room = kMaxEndedProcesses - std::min(kMaxEndedProcesses, to.ended.size());
  std::size_t more = std::min(room, of.ended.size());
  to.unlisted += of.unlisted + of.ended.size() - more;
  of.ended.resize(more);
  std::ranges::move(of.ended, std::back_inserter(to.ended));
  std::ranges::move(of.left, std::back_inserter(to.left));
  to.cpu_ms += of.cpu_ms;
  to.peak_resident_bytes = std::max(to.peak_resident_bytes, of.peak_resident_bytes);
}

HostCalls::HostCalls(HostPlace place, const Clock& clock, Give give)
    : place_(std::move(place)), clock_(clock), give_(std::move(give)) {}

HostCalls::~HostCalls() {
  if (!closed_) end();
}

std::optional<HostAnswer> HostCalls::refused(const HostCall& call) const {
  if (closed_) return HostAnswer{call.id, fail(ErrorCode::gone, "agent_ended", "the agent has ended")};
  if (pending_ < kMaxHostCalls) return std::nullopt;
  return HostAnswer{
      call.id, fail(ErrorCode::rate_limited, "too_many_requests",
                    fmt::format("{} requests wait for their answers. Ask again after one of them.", kMaxHostCalls))};
}

std::optional<HostAnswer> HostCalls::take(HostCall call) {
  if (std::optional<HostAnswer> no = refused(call)) return no;
  ++pending_;
  if (!is_about_files(call)) {
    post_terminal_work([this, call = std::move(call)] { do_terminal(call); });
    return std::nullopt;
  }
  MutexLock lock(mutex_);
  if (file_thread_ == nullptr) file_thread_ = std::make_unique<ThreadPool>("agent-files", 1);
  file_thread_->post([this, call = std::move(call)] { do_file(call); });
  return std::nullopt;
}

void HostCalls::post_terminal_work(Work work) {
  MutexLock lock(mutex_);
  if (terminal_thread_ == nullptr) terminal_thread_ = std::make_unique<ThreadPool>("agent-terminals", 1);
  terminal_thread_->post(std::move(work));
}

void HostCalls::answer(const std::string& call, decltype(HostAnswer::result) result) {
  if (!closed_) give_({call, std::move(result)});
  --pending_;
}

void HostCalls::do_file(const HostCall& call) {
  if (closed_) return;
  if (!place_.files) return answer(call.id, fail(place_.files.error()));
  if (const auto* read = std::get_if<ReadFile>(&call.request)) {
    Result<std::string> text = place_.files->read(*read);
    if (!text) return answer(call.id, fail(std::move(text.error())));
    return answer(call.id, FileText{*std::move(text)});
  }
  Result<void> written = place_.files->write(std::get<WriteFile>(call.request));
  if (!written) return answer(call.id, fail(std::move(written.error())));
  answer(call.id, HostDone{});
}

void HostCalls::do_terminal(const HostCall& call) {
  if (closed_) return;
  if (const auto* start = std::get_if<StartTerminal>(&call.request)) return start_terminal(call.id, *start);
  const std::string name = std::visit(
      [](const auto& request) -> std::string {
        if constexpr (requires { request.terminal; }) return request.terminal;
        return {};
      },
      call.request);
  auto found = terminals_.find(name);
  if (found == terminals_.end() || found->second.released) return answer(call.id, no_terminal(name));
  Terminal& terminal = found->second;
  if (std::holds_alternative<LookAtTerminal>(call.request)) return answer(call.id, terminal.command->look());
  if (std::holds_alternative<AwaitTerminal>(call.request)) {
    if (terminal.over) return answer(call.id, terminal.command->look());
    terminal.waiting.push_back({call.id, true});
    return;
  }
  end_terminal(call.id, terminal, std::holds_alternative<ReleaseTerminal>(call.request));
  if (terminal.over && terminal.released) terminals_.erase(found);
}

// Answered when no process is left, so that who looks then sees the end.
void HostCalls::end_terminal(const std::string& call, Terminal& terminal, bool releases) {
  terminal.released = releases;
  if (terminal.over) return answer(call, HostDone{});
  terminal.waiting.push_back({call, false});
  terminal.command->stop();
}

void HostCalls::start_terminal(const std::string& call, const StartTerminal& request) {
  Result<std::string> name = start_command(request);
  if (!name) return answer(call, fail(std::move(name.error())));
  answer(call, TerminalStarted{*std::move(name)});
}

Result<std::string> HostCalls::start_command(const StartTerminal& request) {
  if (terminals_.size() >= kMaxTerminals) {
    return fail(ErrorCode::rate_limited, "too_many_terminals",
                fmt::format("{} terminals are open. Release one of them first.", kMaxTerminals));
  }
  Result<AgentSpec> spec = spec_of(request);
  if (!spec) return fail(std::move(spec.error()));
  std::string name = fmt::format("terminal-{}", ++started_);
  std::size_t keep = std::min(request.keep_bytes.value_or(kTerminalBytes), kMaxTerminalBytes);
  auto over = [this, name] { post_terminal_work([this, name] { terminal_over(name); }); };
  auto command = std::make_unique<HostTerminal>(keep, std::move(over));
  if (Result<void> started = command->start(*spec, clock_); !started) return fail(std::move(started.error()));
  terminals_[name].command = std::move(command);
  MutexLock lock(mutex_);
  ++running_;
  return name;
}

Result<AgentSpec> HostCalls::spec_of(const StartTerminal& request) const {
  if (!place_.beside) return fail(place_.beside.error());
  if (request.command.empty() || request.command.front().empty()) {
    return fail(ErrorCode::invalid_argument, "no_command", "a terminal needs a command.");
  }
  if (std::ranges::any_of(request.command, has_nul)) {
    return fail(ErrorCode::invalid_argument, "no_command", "a command has no NUL character.");
  }
  AgentSpec spec = *place_.beside;
  spec.command = request.command;
  for (const std::string& variable : request.environment) {
    if (Result<void> added = add_variable(spec.environment, variable); !added) return fail(std::move(added.error()));
  }
  if (request.directory.empty()) return spec;
  if (!place_.files) return fail(place_.files.error());
  Result<std::string> directory = place_.files->directory(request.directory);
  if (!directory) return fail(std::move(directory.error()));
  spec.begins_in = *std::move(directory);
  return spec;
}

// No process of it is left.
void HostCalls::terminal_over(const std::string& name) {
  auto found = terminals_.find(name);
  Terminal& terminal = found->second;
  AgentEnd end = terminal.command->release();
  terminal.over = true;
  for (const Waiting& waiting : std::exchange(terminal.waiting, {})) {
    if (waiting.wants_state) {
      answer(waiting.call, terminal.command->look());
    } else {
      answer(waiting.call, HostDone{});
    }
  }
  if (terminal.released) terminals_.erase(found);
  if (!closed_) {  // it ended during the run, and only its use of the machine is of interest
    end.ended.clear();
    end.unlisted = 0;
  }
  MutexLock lock(mutex_);
  add_end(end_, std::move(end));
  --running_;
  changed_.notify_all();
}

void HostCalls::kill() {
  MutexLock lock(mutex_);
  if (terminal_thread_ == nullptr) return;
  terminal_thread_->post([this] {
    for (auto& [name, terminal] : terminals_) {
      if (!terminal.over) terminal.command->kill();
    }
  });
}

AgentEnd HostCalls::end() {
  closed_ = true;
  std::unique_ptr<ThreadPool> files, terminals;  // joined without the lock
  MutexLock lock(mutex_);
  if (terminal_thread_ != nullptr) {
    bool told = false;
    terminal_thread_->post([this, &told] {
      for (auto& [name, terminal] : terminals_) {
        if (!terminal.over) terminal.command->stop();
      }
      MutexLock telling(mutex_);
      told = true;
      changed_.notify_all();
    });
    while (!told || running_ > 0) changed_.wait(mutex_);
  }
  files = std::move(file_thread_);
  terminals = std::move(terminal_thread_);
  return std::move(end_);
}

}  // namespace shepherd
