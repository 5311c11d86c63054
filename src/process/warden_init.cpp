#include "process/warden_init.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "process/confine.h"
#include "process/limits.h"
#include "process/process_tree.h"
#include "process/warden.h"

namespace shepherd {
namespace {

bool write_file(const char* path, std::string_view text) {
  Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A process without the privilege for a PID namespace can have one inside a user namespace, where it keeps its user id.
Result<void> separate(bool joins_users) {
  if (joins_users && ::setns(kWardenUsers, CLONE_NEWUSER) != 0)
    return cannot_confine("join the agent's user namespace");
  if (::unshare(CLONE_NEWPID) == 0) return {};
  if (errno != EPERM || joins_users) return cannot_confine("have processes of its own");
  std::string user = fmt::format("{0} {0} 1", ::geteuid());
  std::string group = fmt::format("{0} {0} 1", ::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return cannot_confine("have a user namespace");
  if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", user) ||
      !write_file("/proc/self/gid_map", group)) {
    return cannot_confine("stay the same user in a user namespace");
  }
  return {};
}

// `leash` closes with the warden. Signals are blocked, as in the warden.
[[noreturn]] void be_first(const Descriptor& leash) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "shepherd-init");
  // While this process held them, the agent's streams would not end.
  for (int fd : {kWardenAgentIn, kWardenAgentOut, kWardenAgentErr}) ::close(fd);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  Descriptor children(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  for (;;) {
    pollfd waits[3] = {{kWardenSocket, POLLRDHUP, 0}, {leash.get(), POLLIN, 0}, {children.get(), POLLIN, 0}};
    if (::poll(waits, 3, -1) < 0 && errno != EINTR) ::_exit(1);
    if (waits[0].revents != 0 || waits[1].revents != 0) ::_exit(0);
    signalfd_siginfo ignored;
    while (::read(children.get(), &ignored, sizeof ignored) == sizeof ignored) {
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

}  // namespace

Result<pid_t> enter_own_processes(bool joins_users) {
  int leash[2];
  if (::pipe2(leash, O_CLOEXEC) != 0) return cannot_confine("make a pipe");
  Descriptor reads(leash[0]);
  Descriptor writes(leash[1]);
  if (Result<void> done = separate(joins_users); !done) return fail(std::move(done.error()));
  // The agent must not inspect this process or its init process, which are outside of its confinement.
  ::prctl(PR_SET_DUMPABLE, 0);
  pid_t first = ::fork();
  if (first < 0) return cannot_confine("start its first process");
  if (first == 0) {
    writes.reset();
    be_first(reads);
  }
  // Kept for the lifetime of this process.
  static Descriptor held;
  held = std::move(writes);
  return first;
}

bool end_first_process(pid_t first, std::int64_t deadline_ms, const Clock& clock) {
  signal_child_of(::getpid(), first, SIGKILL);
  while (::waitpid(first, nullptr, WNOHANG) == 0) {
    if (clock.steady_ms() >= deadline_ms) return false;
    std::this_thread::sleep_for(kFirstGonePause);
  }
  return true;
}

}  // namespace shepherd
