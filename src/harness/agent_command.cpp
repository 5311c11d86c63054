#include "harness/agent_command.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "driver/limits.h"
#include "harness/limits.h"

namespace shepherd::harness {
namespace {

constexpr std::string_view kPlaceholder = "{address}";

std::unexpected<Error> system_failure(std::string_view what) {
  return fail(ErrorCode::unavailable, "agent_start", fmt::format("{}: {}", what, std::strerror(errno)));
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

Result<std::unique_ptr<AgentCommand>> AgentCommand::start(std::vector<std::string> arguments,
                                                          const std::string& address,
                                                          const std::string& warden_program) {
  for (std::string& argument : arguments) {
    for (std::size_t at = 0; (at = argument.find(kPlaceholder, at)) != std::string::npos; at += address.size()) {
      argument.replace(at, kPlaceholder.size(), address);
    }
  }
  AgentSpec spec;
  spec.command = std::move(arguments);
  for (char** variable = environ; *variable != nullptr; ++variable) spec.environment.emplace_back(*variable);
  spec.environment.push_back("SHEPHERD_AGENT_ADDRESS=" + address);
  std::error_code error;
  spec.directory = std::filesystem::current_path(error).string();
  if (error) spec.directory = "/";
  spec.with_stdin = false;
  spec.warden_program = warden_program;
  std::unique_ptr<AgentCommand> command(new AgentCommand());
  auto process = AgentProcess::start(spec, *command, command->clock_);
  if (!process) return fail(std::move(process.error()));
  command->process_ = *std::move(process);
  return command;
}

void AgentCommand::terminate() {
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = std::chrono::milliseconds(0);
  plan.terminate_wait = 2 * kAgentEndsWait;  // longer than a scenario waits: what it sees is the agent's own end
  process_->stop(std::move(plan));
}

bool AgentCommand::wait_for_exit(std::chrono::milliseconds timeout) {
  std::int64_t deadline_ms = clock_.steady_ms() + timeout.count();
  MutexLock lock(mutex_);
  while (!exit_) {
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (left_ms <= 0) return false;
    exited_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return true;
}

std::string AgentCommand::exit_text() const {
  MutexLock lock(mutex_);
  if (!exit_) return {};
  return exit_->signal != 0 ? fmt::format("signal {}", exit_->signal) : fmt::format("exit code {}", exit_->code);
}

std::string AgentCommand::tail() {
  if (!running()) process_->wait(kAgentEndsWait);  // its last output may still be in the pipe
  MutexLock lock(mutex_);
  return tail_;
}

void AgentCommand::on_output(shepherd::AgentStream /*stream*/, std::string_view bytes) {
  MutexLock lock(mutex_);
  tail_.append(bytes);
  if (tail_.size() > kStderrTailBytes) tail_.erase(0, tail_.size() - kStderrTailBytes);
}

void AgentCommand::on_exit(const AgentExit& exit) {
  MutexLock lock(mutex_);
  exit_ = exit;
  exited_.notify_all();
}

void AgentCommand::on_end(const AgentEnd& /*end*/) {}

}  // namespace shepherd::harness
