// serve() runs a server from the start of main to the signal that ends it.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "shepherd/agent/server.h"

namespace shepherd::agent {
namespace {

int signal_event = -1;

extern "C" void on_end_signal(int /*number*/) {
  int saved = errno;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(signal_event, &one, sizeof one);
  errno = saved;
}

void wait_for_end_signal() {
  std::uint64_t count = 0;
  while (::read(signal_event, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

// Names the port when the address let the system choose one.
std::string port_text(const std::string& address, int port) {
  return address.ends_with(":0") ? ", port " + std::to_string(port) : "";
}

}  // namespace

int serve(ServerOptions options, Work work) {
  signal_event = ::eventfd(0, EFD_CLOEXEC);
  struct sigaction action{};
  action.sa_handler = on_end_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  LogSink log = options.log ? options.log : LogSink([](const LogRecord&) {});
  auto say = [&log](LogLevel level, std::string message) {
    log({.level = level, .message = std::move(message), .task_id = {}, .trace_id = {}, .span_id = {}});
  };

  std::optional<AgentServer> server;
  try {
    std::string address = options.address, metrics = options.metrics_address;
    server.emplace(std::move(options), std::move(work));
    say(LogLevel::info, "listening on " + address + port_text(address, server->port()));
    if (server->metrics_port() != 0) {
      say(LogLevel::info, "metrics on " + metrics + port_text(metrics, server->metrics_port()));
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "agent: %s\n", problem.what());
    return 1;
  }
  wait_for_end_signal();
  say(LogLevel::info, "shutting down");
  if (!server->shutdown()) {
    say(LogLevel::error, "work has not returned by the deadline; it is abandoned");
    std::fflush(nullptr);
    std::_Exit(1);  // work threads still use what an ordinary exit would destroy
  }
  say(LogLevel::info, "ended");
  return 0;
}

}  // namespace shepherd::agent
