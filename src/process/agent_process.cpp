#include "process/agent_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "process/limits.h"
#include "process/lost_warden.h"

namespace shepherd {

Result<std::unique_ptr<AgentProcess>> AgentProcess::start(const AgentSpec& spec, AgentObserver& listener,
                                                          const Clock& clock) {
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail(ErrorCode::unavailable, "cannot_start", "no descriptor is left for another agent");
  auto launched = launch_agent(spec);
  if (!launched) return fail(std::move(launched.error()));
  return std::unique_ptr<AgentProcess>(
      new AgentProcess(std::move(*launched), std::move(wake), spec.with_stdin, listener, clock));
}

AgentProcess::AgentProcess(LaunchedAgent launched, Descriptor wake, bool with_stdin, AgentObserver& listener,
                           const Clock& clock)
    : launched_(std::move(launched)),
      listener_(listener),
      clock_(clock),
      wake_(std::move(wake)),
      last_output_ms_(clock.steady_ms()),
      buffer_(kAgentReadBytes, '\0'),
      stdin_open_(with_stdin) {
  thread_ = std::thread([this] { run(); });
}

AgentProcess::~AgentProcess() {
  AgentProcess::kill();
  thread_.join();
}

void AgentProcess::wake() {
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

Result<void> AgentProcess::write(std::string_view bytes) {
  {
    MutexLock lock(mutex_);
    if (!stdin_open_ || close_stdin_) return fail(ErrorCode::gone, "stdin_closed", "the agent reads no more input");
    if (stdin_.size() + bytes.size() > kMaxStdinBytes) {
      return fail(ErrorCode::rate_limited, "stdin_full", "the agent does not read its input; try again later");
    }
    stdin_ += bytes;
  }
  wake();
  return {};
}

std::size_t AgentProcess::unread_bytes() const {
  MutexLock lock(mutex_);
  return stdin_.size();
}

void AgentProcess::close_input() {
  {
    MutexLock lock(mutex_);
    close_stdin_ = true;
  }
  wake();
}

void AgentProcess::ask_pause(bool paused) {
  {
    MutexLock lock(mutex_);
    asked_pause_ = paused;
  }
  wake();
}

void AgentProcess::stop(StopPlan plan) {
  {
    MutexLock lock(mutex_);
    if (!asked_stop_) asked_stop_ = std::move(plan);
  }
  wake();
}

void AgentProcess::kill() {
  {
    MutexLock lock(mutex_);
    asked_kill_ = true;
  }
  wake();
}

std::optional<AgentEnd> AgentProcess::wait(std::chrono::milliseconds timeout) {
  std::int64_t deadline_ms = clock_.steady_ms() + timeout.count();
  MutexLock lock(mutex_);
  while (!end_) {
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (left_ms <= 0) return std::nullopt;
    finished_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return end_;
}

AgentUsage AgentProcess::usage() const {
  static const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
  AgentUsage usage;
  MutexLock lock(warden_mutex_);
  if (final_cpu_ms_) {
    usage.cpu_ms = *final_cpu_ms_;
    return usage;
  }
  std::uint64_t ticks = 0;
  if (auto warden = process_stat(launched_.warden)) ticks = warden->waited_ticks;
  for (const ProcessStat& process : descendants_of(launched_.warden)) {
    ticks += process.cpu_ticks + process.waited_ticks;
    if (process.pid == launched_.first) continue;  // ours
    usage.resident_bytes += process.resident_bytes;
    ++usage.processes;
  }
  usage.cpu_ms = static_cast<std::int64_t>(ticks) * 1000 / ticks_per_second;
  return usage;
}

void AgentProcess::run() {
  // The main thread takes the program's signals. With SIGPIPE blocked, a closed stdin is an error code.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  while (phase_ != Phase::done) step();
}

void AgentProcess::step() {
  bool has_input = false;
  {
    MutexLock lock(mutex_);
    has_input = stdin_open_ && (!stdin_.empty() || close_stdin_);
  }
  // poll() skips a descriptor of -1.
  pollfd waits[5] = {{wake_.get(), POLLIN, 0},
                     {launched_.socket.get(), POLLIN, 0},
                     {launched_.out.get(), POLLIN, 0},
                     {launched_.err.get(), POLLIN, 0},
                     {has_input ? launched_.in.get() : -1, POLLOUT, 0}};
  int timeout_ms = -1;
  if (deadline_ms_ >= 0) {
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(deadline_ms_ - clock_.steady_ms(), 0, 60'000));
  }
  ::poll(waits, 5, timeout_ms);
  if (waits[0].revents != 0) take_requests();
  if (waits[2].revents != 0) read_output({AgentStream::out, launched_.out}, kAgentReadsPerTurn);
  if (waits[3].revents != 0) read_output({AgentStream::err, launched_.err}, kAgentReadsPerTurn);
  if (waits[4].revents != 0) write_stdin();
  if (waits[1].revents != 0) hear_warden();
  if (phase_ == Phase::draining && !launched_.out && !launched_.err) begin_end();
  if (deadline_ms_ >= 0 && clock_.steady_ms() >= deadline_ms_) time_passed();
}

void AgentProcess::take_requests() {
  std::uint64_t count = 0;
  [[maybe_unused]] ssize_t got = ::read(wake_.get(), &count, sizeof count);
  std::optional<bool> paused;
  bool killed = false;
  bool stopped = false;
  {
    MutexLock lock(mutex_);
    paused = std::exchange(asked_pause_, std::nullopt);
    killed = asked_kill_;
    stopped = asked_stop_.has_value() && phase_ == Phase::running;
    if (stopped) plan_ = *asked_stop_;
  }
  if (paused && phase_ <= Phase::stopping) tell(*paused ? WardenVerb::pause : WardenVerb::resume);
  if (killed && phase_ < Phase::ending) {
    if (!exit_) rung_ = StopRung::kill;
    begin_end();
  } else if (stopped) {
    tell(WardenVerb::resume);  // a stopped process handles no signal but SIGKILL
    phase_ = Phase::stopping;
    climb();
  }
}

// Goes to the next rung that the plan does not leave out.
void AgentProcess::climb() {
  switch (rung_) {
    case StopRung::none:
      rung_ = StopRung::interrupt;
      if (plan_.interrupt_wait.count() > 0 && plan_.interrupt && plan_.interrupt()) {
        return wait_until_after(plan_.interrupt_wait);
      }
      [[fallthrough]];
    case StopRung::interrupt:
      rung_ = StopRung::close;
      if (plan_.close_wait.count() > 0) {
        tell(WardenVerb::signal_agent, {SIGINT});
        return wait_until_after(plan_.close_wait);
      }
      [[fallthrough]];
    case StopRung::close:
      rung_ = StopRung::terminate;
      if (plan_.terminate_wait.count() > 0) {
        tell(WardenVerb::signal_group, {SIGTERM});
        return wait_until_after(plan_.terminate_wait);
      }
      [[fallthrough]];
    default:
      rung_ = StopRung::kill;
      begin_end();
  }
}

void AgentProcess::time_passed() {
  switch (phase_) {
    case Phase::stopping:
      return climb();
    case Phase::draining:
      return begin_end();
    case Phase::ending:
      log_error("the warden {} of agent {} does not answer; the runner ends the agent itself", launched_.warden,
                launched_.agent);
      return warden_lost();
    default:
      deadline_ms_ = -1;
  }
}

void AgentProcess::begin_end() {
  phase_ = Phase::ending;
  tell(WardenVerb::end, {plan_.kill_wait.count()});
  wait_until_after(plan_.kill_wait + kKillWait);
}

void AgentProcess::tell(WardenVerb verb, std::vector<std::int64_t> numbers) {
  // The end of its socket shows when the warden is gone.
  send_message(launched_.socket.get(), {verb, std::move(numbers), {}});
}

void AgentProcess::hear_warden() {
  auto message = receive_message(launched_.socket.get());
  if (!message) return warden_lost();
  if (message->verb == WardenVerb::exited && message->numbers.size() == 2) {
    return exited({static_cast<int>(message->numbers[0]), static_cast<int>(message->numbers[1])});
  }
  auto end = decode_end(*message);
  if (!end) return warden_lost();
  // A process that is stuck in the kernel keeps the warden busy.
  release(!end->left.empty(), end->cpu_ms);
  ended(*std::move(end));
}

void AgentProcess::release(bool stuck, std::int64_t cpu_ms) {
  MutexLock lock(warden_mutex_);
  final_cpu_ms_ = cpu_ms;
  release_warden(launched_.warden, stuck);
}

void AgentProcess::exited(AgentExit exit) {
  exit_ = exit;
  drop_stdin();
  if (phase_ < Phase::draining) {
    phase_ = Phase::draining;
    wait_until_after(kAgentDrain);
  }
  listener_.on_exit(exit);
}

// The warden was killed, or is stuck.
void AgentProcess::warden_lost() {
  ::kill(launched_.warden, SIGKILL);
  release(false, usage().cpu_ms);
  AgentEnd end = end_orphans(launched_, std::max(plan_.kill_wait, kKillWait), clock_);
  if (exit_) end.exit = *exit_;
  end.warden_lost = true;
  ended(std::move(end));
}

void AgentProcess::ended(AgentEnd end) {
  end.rung = rung_;
  if (!exit_) exited(end.exit);
  phase_ = Phase::done;
  // All processes are dead, so the pipes have all output, unless a process outside the tree got the other end.
  constexpr int kReadsOfAFullPipe = kAgentPipeBytes / static_cast<int>(kAgentReadBytes) + 1;
  for (Output output : {Output{AgentStream::out, launched_.out}, Output{AgentStream::err, launched_.err}}) {
    if (output.descriptor && read_output(output, kReadsOfAFullPipe)) {
      output.descriptor.reset();
      listener_.on_output_closed(output.stream);
    }
  }
  listener_.on_end(end);
  {
    MutexLock lock(mutex_);
    end_ = std::move(end);
  }
  finished_.notify_all();
}

// Returns false once the stream has closed.
bool AgentProcess::read_output(Output output, int reads) {
  while (reads-- > 0) {
    ssize_t got = ::read(output.descriptor.get(), buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      output.descriptor.reset();
      listener_.on_output_closed(output.stream);
      return false;
    }
    last_output_ms_ = clock_.steady_ms();
    listener_.on_output(output.stream, std::string_view(buffer_.data(), static_cast<std::size_t>(got)));
  }
  return true;
}

void AgentProcess::write_stdin() {
  bool closed = false;
  {
    MutexLock lock(mutex_);
    while (!stdin_.empty() && !closed) {
      ssize_t written = ::write(launched_.in.get(), stdin_.data(), stdin_.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EAGAIN) return;
      closed = written < 0;
      if (!closed) stdin_.erase(0, static_cast<std::size_t>(written));
    }
    closed = closed || close_stdin_;
  }
  if (closed) drop_stdin();
}

void AgentProcess::drop_stdin() {
  MutexLock lock(mutex_);
  stdin_open_ = false;
  stdin_.clear();
  launched_.in.reset();
}

}  // namespace shepherd
