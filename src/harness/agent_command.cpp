#include "harness/agent_command.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "harness/limits.h"

namespace shepherd::harness {
namespace {

constexpr std::string_view kPlaceholder = "{address}";

std::unexpected<Error> system_failure(std::string_view what) {
  return fail(ErrorCode::unavailable, "agent_start", fmt::format("{}: {}", what, std::strerror(errno)));
}

// Runs in the child between fork and exec, so it must not allocate or lock.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  const char* text = std::strerror(errno);
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Result<std::string> free_loopback_address() {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return system_failure("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  bool found = ::bind(socket, generic, size) == 0 && ::getsockname(socket, generic, &size) == 0;
  ::close(socket);
  if (!found) return system_failure("no free port");
  return fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
}

Result<AgentCommand> AgentCommand::start(std::vector<std::string> arguments, const std::string& address) {
  for (std::string& argument : arguments) {
    for (std::size_t at = 0; (at = argument.find(kPlaceholder, at)) != std::string::npos; at += address.size()) {
      argument.replace(at, kPlaceholder.size(), address);
    }
  }
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  variables.push_back("SHEPHERD_AGENT_ADDRESS=" + address);
  std::vector<char*> argument_pointers = pointers(arguments), variable_pointers = pointers(variables);

  auto output = OutputTail::open();
  if (!output) return fail(output.error());
  pid_t pid = ::fork();
  if (pid == 0) become(argument_pointers.data(), variable_pointers.data(), output->writing_end());
  if (pid < 0) return system_failure("cannot start the agent");
  output->close_writing_end();
  ::setpgid(pid, pid);  // also set here, because either process may run first
  return AgentCommand(pid, *std::move(output));
}

AgentCommand::AgentCommand(AgentCommand&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)), status_(other.status_) {}

AgentCommand::~AgentCommand() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  if (!status_) ::waitpid(pid_, nullptr, 0);
}

void AgentCommand::terminate() const {
  ::kill(-pid_, SIGTERM);
}

bool AgentCommand::wait_for_exit(std::chrono::milliseconds timeout) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (status_) return true;
    int status = 0;
    pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      status_ = status;
      return true;
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kAgentLook);
  }
}

std::string AgentCommand::exit_text() const {
  if (!status_) return {};
  if (WIFSIGNALED(*status_)) return fmt::format("signal {}", WTERMSIG(*status_));
  return fmt::format("exit code {}", WEXITSTATUS(*status_));
}

}  // namespace shepherd::harness
