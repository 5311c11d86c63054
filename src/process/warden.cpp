#include "process/warden.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "process/limits.h"
#include "process/tree_end.h"
#include "process/warden_agent.h"
#include "process/warden_init.h"
#include "process/warden_wire.h"

namespace shepherd {
namespace {

// The command for the report, even if the process is gone before it can be inspected.
std::string command_of(const WardenStart& start) {
  std::string command;
  for (const std::string& word : start.arguments) {
    command += (command.empty() ? "" : " ") + word;
    if (command.size() > kMaxCommandLineBytes) break;
  }
  return command.substr(0, kMaxCommandLineBytes);
}

class Warden {
 public:
  Warden() : tree_([this](const Visit& visit) { return agents_processes(visit); }, clock_) {}

  int run() {
    prepare();
    auto message = receive_message(kWardenSocket);
    if (!message) return 1;
    auto start = decode_start(*std::move(message));
    if (!start) return 1;
    Result<pid_t> agent = start_all(*start);
    for (int fd : {kWardenAgentIn, kWardenAgentOut, kWardenAgentErr}) ::close(fd);
    if (!agent) {
      end_first(clock_.steady_ms() + kKillWait.count());
      const Error& why = agent.error();
      std::int64_t error = why.fields.empty() ? 0 : std::get<std::int64_t>(why.fields[0].value);
      send_message(kWardenSocket, {WardenVerb::failed, {error}, {why.message, why.reason}});
      return 1;
    }
    agent_ = *agent;
    tree_.keep(agent_, command_of(*start));
    send_message(kWardenSocket, {WardenVerb::started, {agent_, first_}, {}});
    watch();
    return end_everybody();
  }

 private:
  void prepare() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    // Our parent may have ignored SIGCHLD, and then no child could be waited for.
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    children_ = Descriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "shepherd-warden");
    for (int fd = kWardenSocket; fd <= kWardenUsers; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

  Result<pid_t> start_all(const WardenStart& start) {
    if (start.means == ConfineMeans::namespaces) {
      Result<pid_t> first = enter_own_processes(start.joins == WardenJoins::users_and_mounts);
      if (!first) return first;
      first_ = *first;
    }
    return start_agent(start);
  }

  // Excludes the init process of the agent's PID namespace, which is ours and reaps the others.
  std::vector<ProcessStat> agents_processes(const Visit& visit) const {
    return TreeEnd::all_but(first_, [](const Visit& each) { return descendants_of(::getpid(), each); })(visit);
  }

  void end_first(std::int64_t deadline_ms) {
    if (first_ != 0 && end_first_process(first_, deadline_ms, clock_)) first_ = 0;
  }

  // Watches until the runner requests the end or is gone.
  void watch() {
    for (;;) {
      pollfd waits[2] = {{kWardenSocket, POLLIN, 0}, {children_.get(), POLLIN, 0}};
      if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
      if (waits[1].revents != 0) notice_exits();
      if (waits[0].revents != 0) {
        auto message = receive_message(kWardenSocket);
        if (!message || !obey(*message)) return;
      }
    }
  }

  bool obey(const WardenMessage& message) {
    int signal = message.numbers.empty() ? 0 : static_cast<int>(message.numbers[0]);
    switch (message.verb) {
      case WardenVerb::signal_agent:
        tree_.note();
        if (!tree_.kept_exit()) ::kill(agent_, signal);
        return true;
      case WardenVerb::signal_group:
        tree_.note();
        if (!empty_) ::kill(-agent_, signal);
        return true;
      case WardenVerb::pause:
        tree_.freeze();
        return true;
      case WardenVerb::resume:
        tree_.thaw();
        return true;
      default:
        if (message.verb == WardenVerb::end && !message.numbers.empty()) wait_ = std::chrono::milliseconds(signal);
        return false;
    }
  }

  // Checks the agent itself without reaping it: until it is reaped, no other process can get its number or group.
  void notice_exits() {
    signalfd_siginfo ignored;
    while (::read(children_.get(), &ignored, sizeof ignored) == sizeof ignored) {
    }
    bool knew = tree_.kept_exit().has_value();
    empty_ = tree_.reap();
    if (knew || !tree_.kept_exit()) return;
    send_message(kWardenSocket, {WardenVerb::exited, {tree_.kept_exit()->code, tree_.kept_exit()->signal}, {}});
  }

  int end_everybody() {
    bool all_gone = kill_all(wait_);
    AgentEnd end;
    tree_.report(end);
    if (tree_.kept_exit()) end.exit = *tree_.kept_exit();
    rusage used{};
    ::getrusage(RUSAGE_CHILDREN, &used);
    end.cpu_ms =
        (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    end.peak_resident_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    send_message(kWardenSocket, encode_end(end));
    ::close(kWardenSocket);
    // The runner has its answer, but a process that is stuck in the kernel must still be killed.
    while (!all_gone) all_gone = kill_all(kKillWait);
    return 0;
  }

  // The list of children in /proc may miss one while they come and go; wait() misses none.
  bool kill_all(std::chrono::milliseconds wait) {
    std::int64_t deadline_ms = clock_.steady_ms() + wait.count();
    do {
      bool gone =
          empty_ || tree_.kill(std::chrono::milliseconds(std::max<std::int64_t>(deadline_ms - clock_.steady_ms(), 0)));
      end_first(deadline_ms);
      siginfo_t answer{};
      bool nobody = ::waitid(P_ALL, 0, &answer, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
      empty_ = false;
      if (gone && nobody) return true;
    } while (clock_.steady_ms() < deadline_ms);
    return false;
  }

  SystemClock clock_;
  TreeEnd tree_;
  Descriptor children_;
  pid_t agent_ = 0;
  pid_t first_ = 0;     // init of a confined agent's PID namespace; 0 if there is none
  bool empty_ = false;  // no process is left, including the agent's zombie
  std::chrono::milliseconds wait_ = kKillWait;
};

}  // namespace

int warden_main(int, char**) {
  return Warden().run();
}

}  // namespace shepherd
