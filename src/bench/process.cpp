#include "bench/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "bench/cores.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr double kStopSeconds = 10;

std::unexpected<Error> not_started(std::string message) {
  return fail(ErrorCode::unavailable, "not_started", std::move(message));
}

// Runs in the child between fork and exec, so it uses only async-signal-safe calls.
void become_child(pid_t parent, int core) {
  setpgid(0, 0);
  for (int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  // SIGTERM, because some servers end their own workers on it.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // the parent died before the call above
  run_on_core(core);
}

}  // namespace

Result<Process> Process::start(const Options& options) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return not_started(fmt::format("no pipe: {}", std::strerror(errno)));
  int errors = open(options.error_file.empty() ? "/dev/null" : options.error_file.c_str(),
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::vector<char*> arguments;
  arguments.reserve(options.arguments.size() + 1);
  for (const std::string& argument : options.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) {
    become_child(parent, options.core);
    dup2(nothing, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(out[1]);
  close(errors);
  close(nothing);
  if (pid < 0) {
    close(out[0]);
    return not_started(fmt::format("cannot fork: {}", std::strerror(errno)));
  }
  Process process;
  process.pid_ = pid;
  process.out_ = out[0];
  return process;
}

Result<Process> Process::fork_only(const std::function<void()>& body, int core) {
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) {
    become_child(parent, core);
    body();
    _exit(0);
  }
  if (pid < 0) return not_started(fmt::format("cannot fork: {}", std::strerror(errno)));
  Process process;
  process.pid_ = pid;
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), out_(std::exchange(other.out_, -1)), unread_(std::move(other.unread_)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(out_, other.out_);
  std::swap(unread_, other.unread_);
  return *this;
}

Process::~Process() {
  stop();
  if (out_ >= 0) close(out_);
}

bool Process::running() {
  if (pid_ <= 0) return false;
  if (waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

Result<std::string> Process::read_line(double seconds) {
  std::uint64_t deadline = steady_ns() + seconds_as_ns(seconds);
  while (true) {
    if (std::size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::uint64_t now_ns = steady_ns();
    pollfd ready{out_, POLLIN, 0};
    int timeout_ms = now_ns < deadline ? static_cast<int>((deadline - now_ns) / 1'000'000) : 0;
    if (poll(&ready, 1, timeout_ms) == 0) return not_started(fmt::format("it said nothing for {} s", seconds));
    char piece[4096];
    long got = ::read(out_, piece, sizeof piece);
    if (got <= 0) return not_started("it ended before it was ready");
    unread_.append(piece, static_cast<std::size_t>(got));
  }
}

void Process::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  std::uint64_t deadline = steady_ns() + seconds_as_ns(kStopSeconds);
  while (running()) {
    if (steady_ns() > deadline) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
      return;
    }
    poll(nullptr, 0, 5);
  }
}

}  // namespace shepherd::bench
