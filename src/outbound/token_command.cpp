#include "outbound/token_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

#include "outbound/repo_token.h"

namespace shepherd {
namespace {

constexpr int kNotFound = 127, kNotRunnable = 126;  // as in a shell

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// --- between fork and exec: nothing that allocates or locks ---

// The server blocks the signals that stop it and ignores SIGPIPE; its child must react to them.
[[noreturn]] void become(char* const* arguments, char* const* environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(arguments[0], arguments, environment);
  ::_exit(errno == ENOENT ? kNotFound : kNotRunnable);
}

// SIGTERM means that the server is gone, or that a process of the group wants all of it to end.
[[noreturn]] void watch_over(pid_t child, const sigset_t& heeded) {
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : kNotRunnable);
    if (::sigwaitinfo(&heeded, nullptr) == SIGTERM) ::kill(0, SIGKILL);
  }
}

[[noreturn]] void lead(pid_t server, char* const* arguments, char* const* environment, int output) {
  ::setpgid(0, 0);
  sigset_t heeded;
  sigemptyset(&heeded);
  sigaddset(&heeded, SIGTERM);
  sigaddset(&heeded, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &heeded, nullptr);
  for (int signal : {SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != server) ::_exit(kNotRunnable);  // the server died before the kernel was asked for a signal
  int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (::dup2(null, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0) ::_exit(kNotRunnable);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);  // this process must not hold the server's sockets and locks
  pid_t child = ::fork();
  if (child == 0) become(arguments, environment);
  if (child < 0) ::_exit(kNotRunnable);
  ::close(STDOUT_FILENO);  // so that the reader sees the end when the command closes it
  watch_over(child, heeded);
}

}  // namespace

bool wait_readable(int fd, int stop, TokenCommand::Deadline deadline) {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waiting{pollfd{fd, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
    int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && waiting[1].revents == 0;
  }
}

Result<TokenCommand> TokenCommand::start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                         int output) {
  auto argument_pointers = pointers(arguments), variable_pointers = pointers(environment);
  pid_t server = ::getpid();
  pid_t group = ::fork();
  if (group == 0) lead(server, argument_pointers.data(), variable_pointers.data(), output);
  if (group < 0) {
    return fail(token_provider_failed("the configured command does not start: " + std::string(std::strerror(errno))));
  }
  ::setpgid(group, group);  // in both processes, because either may run first
  return TokenCommand(group);
}

TokenCommand::TokenCommand(pid_t group) : group_(group), gone_(static_cast<int>(::syscall(SYS_pidfd_open, group, 0))) {}

TokenCommand::TokenCommand(TokenCommand&& other) noexcept
    : group_(std::exchange(other.group_, -1)),
      gone_(std::exchange(other.gone_, -1)),
      status_(other.status_),
      reaped_(other.reaped_) {}

TokenCommand::~TokenCommand() {
  if (group_ < 0) return;
  if (!reaped_) reap();
  if (gone_ >= 0) ::close(gone_);
}

std::optional<int> TokenCommand::wait(int stop, Deadline deadline) {
  if (gone_ < 0 || !wait_readable(gone_, stop, deadline)) return std::nullopt;
  int status = reap();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Kills the group before its leader is reaped: until then no other process can have its number.
int TokenCommand::reap() {
  ::kill(-group_, SIGKILL);
  while (::waitpid(group_, &status_, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  return status_;
}

}  // namespace shepherd
