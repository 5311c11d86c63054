// A misbehaving agent for tests: `misbehaving_agent MODE [ARGUMENT]`. It can also be a warden (`__warden`) and a runner
// that waits to be killed (`runner MARK LEVEL MODE …`, LEVEL as in confinement.h).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "process/agent_process.h"
#include "process/warden.h"

namespace {

using namespace shepherd;

void say(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(1, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void ignore_everything() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
}

// Starts a child in its own session whose parent is gone, so that neither its group nor its parent identifies it.
void start_runaway() {
  pid_t middle = ::fork();
  if (middle > 0) {
    ::waitpid(middle, nullptr, 0);
    return;
  }
  ::setsid();
  if (::fork() > 0) ::_exit(0);
  hang();
}

int echo() {
  char bytes[65536];
  for (;;) {
    ssize_t got = ::read(0, bytes, sizeof bytes);
    if (got <= 0) return 0;
    say({bytes, static_cast<std::size_t>(got)});
  }
}

int flood(std::size_t bytes) {
  std::string piece(1000, 'x');
  piece.back() = '\n';
  for (std::size_t sent = 0; sent < bytes; sent += piece.size()) say(piece);
  return 0;
}

// Ignores all signals but SIGKILL, with a child in its group, one in its own session, and one without a parent.
int stubborn() {
  ignore_everything();
  if (::fork() == 0) hang();
  if (::fork() == 0) {
    ::setsid();
    hang();
  }
  start_runaway();
  say("ready\n");
  hang();
}

// Forks as fast as it can, half of the time out of its group, until `most` processes have been started.
int fork_bomb(int most) {
  ignore_everything();
  void* shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* started = new (shared) std::atomic<int>(0);
  say("ready\n");
  for (;;) {
    if (started->fetch_add(1) >= most) hang();
    if (::fork() == 0 && started->load() % 2 == 0) ::setsid();
  }
}

class Quiet final : public AgentObserver {
 public:
  void on_output(AgentStream, std::string_view bytes) override { say(bytes); }
  void on_end(const AgentEnd&) override {}
};

int run_agent(const char* self, const char* mark, char** words) {
  ConfineLevel level = confine_level(*words++).value_or(ConfineLevel::none);
  SystemClock clock;
  Quiet listener;
  AgentSpec spec;
  spec.command = {self};
  while (*words != nullptr) spec.command.emplace_back(*words++);
  spec.environment = {std::string("SHEPHERD_TEST_MARK=") + mark};
  spec.directory = "/";
  spec.confinement = {level, true, {}, {}, {}};
  auto agent = AgentProcess::start(spec, listener, clock);
  if (!agent) return 1;
  hang();
}

int exit_on(int wanted) {
  ignore_everything();
  ::signal(wanted, [](int) { ::_exit(7); });
  say("ready\n");
  hang();
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view mode = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  if (mode == kWardenCommand) return warden_main(argc, argv);
  if (mode == "runner") return run_agent(argv[0], argument, argv + 3);
  if (mode == "say") return say(argument), 0;
  if (mode == "echo") return echo();
  if (mode == "flood") return flood(std::strtoull(argument, nullptr, 10));
  if (mode == "stubborn") return stubborn();
  if (mode == "fork_bomb") return fork_bomb(std::atoi(argument));
  if (mode == "exit_on_sigint") return exit_on(SIGINT);
  if (mode == "exit_on_sigterm") return exit_on(SIGTERM);
  if (mode == "environment") {
    for (char** variable = environ; *variable != nullptr; ++variable) say(std::string(*variable) + "\n");
    return 0;
  }
  if (mode == "descriptors") {
    for (int fd = 0; fd < 1024; ++fd) {
      if (::fcntl(fd, F_GETFD) >= 0) say(std::to_string(fd) + " ");
    }
    return 0;
  }
  if (mode == "where") {
    char path[4096];
    say(::getcwd(path, sizeof path));
    return ::getsid(0) == ::getpid() && ::getpgrp() == ::getpid() ? 0 : 1;
  }
  if (mode == "close_output") {  // and lives until its input ends
    ::close(1);
    ::close(2);
    char byte;
    while (::read(0, &byte, 1) > 0) {
    }
    return 5;
  }
  if (mode == "exit_but_child_holds_output") {
    start_runaway();
    say("last words\n");
    return 3;
  }
  if (mode == "silent") {
    say("ready\n");
    hang();
  }
  if (mode == "deaf") {  // never reads its input
    say("ready\n");
    hang();
  }
  if (mode == "burn") {  // a second process uses the processor
    if (::fork() == 0) {
      for (std::atomic<unsigned> work = 0;;) ++work;
    }
    say("ready\n");
    hang();
  }
  std::fprintf(stderr, "unknown mode\n");
  return 2;
}
