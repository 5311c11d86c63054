#include "process/launch_warden.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "base/limits.h"
#include "base/mutex.h"
#include "process/warden.h"
#include "process/warden_wire.h"

namespace shepherd {
namespace {

std::unexpected<Error> no_resources(const char* what) {
  return fail(ErrorCode::unavailable, "cannot_start", std::string("cannot ") + what + ": " + std::strerror(errno));
}

// Replaces the descriptor by one that is high enough and closed by exec.
bool lift(Descriptor& descriptor) {
  Descriptor high(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirstFreeDescriptor));
  if (!high) return false;
  descriptor = std::move(high);
  return true;
}

struct Ends {
  Descriptor reads, writes;
};

bool make_pipe(Ends& ends) {
  int both[2];
  if (::pipe2(both, O_CLOEXEC) != 0) return false;
  ends.reads = Descriptor(both[0]);
  ends.writes = Descriptor(both[1]);
  ::fcntl(both[0], F_SETPIPE_SZ, kAgentPipeBytes);  // a smaller pipe works, too
  return true;
}

void make_non_blocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// The warden's end of each connection.
struct WardenSide {
  Descriptor socket, in, out, err;
};

// The wardens that this process has started and not yet released.
struct Wardens {
  Mutex mutex;
  std::set<pid_t> pids GUARDED_BY(mutex);
};
Wardens& wardens() {
  static Wardens all;
  return all;
}

// Moves the namespaces to join to the warden. Returns the first descriptor that it does not have.
int add_namespaces(posix_spawn_file_actions_t& actions, const SharedConfinement* beside) {
  if (beside == nullptr || !beside->mounts) return kWardenMounts;
  ::posix_spawn_file_actions_adddup2(&actions, beside->mounts.get(), kWardenMounts);
  if (!beside->users) return kWardenUsers;
  ::posix_spawn_file_actions_adddup2(&actions, beside->users.get(), kWardenUsers);
  return kWardenUsers + 1;
}

int spawn_warden(const AgentSpec& spec, const WardenSide& side, pid_t& warden) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, side.socket.get(), kWardenSocket);
  ::posix_spawn_file_actions_adddup2(&actions, side.in.get(), kWardenAgentIn);
  ::posix_spawn_file_actions_adddup2(&actions, side.out.get(), kWardenAgentOut);
  ::posix_spawn_file_actions_adddup2(&actions, side.err.get(), kWardenAgentErr);
  int unused = add_namespaces(actions, spec.beside.get());
  ::posix_spawn_file_actions_addclosefrom_np(&actions, unused);

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // In its own session from its first instruction, so that a Ctrl-C for the runner never reaches it.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);

  std::string command(kWardenCommand);
  std::string name = "shepherd";
  char* arguments[] = {name.data(), command.data(), nullptr};
  // The runner's own variables may contain secrets that an agent of the same user could read in /proc.
  std::string libraries = "LD_LIBRARY_PATH=";
  const char* given = ::getenv("LD_LIBRARY_PATH");
  if (given != nullptr) libraries += given;
  char* environment[] = {given != nullptr ? libraries.data() : nullptr, nullptr};
  // Registered under the lock, before another thread can mistake it for an orphan.
  MutexLock lock(wardens().mutex);
  int error = ::posix_spawn(&warden, spec.warden_program.c_str(), &actions, &attributes, arguments, environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) wardens().pids.insert(warden);
  return error;
}

std::unexpected<Error> failed_start(const AgentSpec& spec, const std::optional<WardenMessage>& answer) {
  if (!answer || answer->verb != WardenVerb::failed || answer->words.empty() || answer->numbers.empty()) {
    return fail(ErrorCode::internal, "cannot_start",
                spec.warden_program + " did not become the warden of " + spec.command.front());
  }
  if (answer->words.size() > 1 && answer->words[1] == "cannot_confine") {
    return fail(ErrorCode::unavailable, "cannot_confine", answer->words[0]);
  }
  std::int64_t error = answer->numbers[0];
  bool missing = error == ENOENT || error == ENOTDIR || error == EACCES || error == ENOEXEC;
  return fail(missing ? ErrorCode::not_found : ErrorCode::unavailable, "cannot_start", answer->words[0]);
}

// Landlock cannot make a directory private, so it does not support level workspace.
std::vector<ConfineMeans> means_for(ConfineLevel level) {
  if (level == ConfineLevel::secrets) return {ConfineMeans::namespaces, ConfineMeans::landlock};
  return {ConfineMeans::namespaces};
}

// Creates paths before the start, because Landlock may keep the agent from creating them.
void make_places(const std::vector<std::string>& paths) {
  std::error_code error;
  for (const std::string& path : paths) {
    if (!std::filesystem::exists(path, error)) std::filesystem::create_directories(path, error);
  }
}

Result<LaunchedAgent> launch(const AgentSpec& spec, const WardenStart& start) {
  // If the warden is killed, its processes become our children.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  LaunchedAgent launched;
  WardenSide side;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return no_resources("make a socket");
  launched.socket = Descriptor(sockets[0]);
  side.socket = Descriptor(sockets[1]);
  Ends in, out, err;
  if (!make_pipe(out) || !make_pipe(err)) return no_resources("make a pipe");
  if (spec.with_stdin) {
    if (!make_pipe(in)) return no_resources("make a pipe");
  } else {
    in.reads = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  side.in = std::move(in.reads);
  side.out = std::move(out.writes);
  side.err = std::move(err.writes);
  launched.in = std::move(in.writes);
  launched.out = std::move(out.reads);
  launched.err = std::move(err.reads);
  for (Descriptor* descriptor : {&side.socket, &side.in, &side.out, &side.err}) {
    if (!lift(*descriptor)) return no_resources("copy a descriptor");
  }
  for (Descriptor* descriptor : {&launched.in, &launched.out, &launched.err}) make_non_blocking(*descriptor);

  int error = spawn_warden(spec, side, launched.warden);
  if (error != 0) {
    errno = error;
    return no_resources("start a warden");
  }
  side = {};  // otherwise we would never see the end of a stream
  send_message(launched.socket.get(), encode_start(start));
  auto answer = receive_message(launched.socket.get());
  if (!answer || answer->verb != WardenVerb::started || answer->numbers.empty()) {
    launched.socket.reset();
    release_warden(launched.warden, false);
    return failed_start(spec, answer);
  }
  launched.agent = static_cast<pid_t>(answer->numbers[0]);
  if (answer->numbers.size() > 1) launched.first = static_cast<pid_t>(answer->numbers[1]);
  return launched;
}

Result<LaunchedAgent> launch_beside(const AgentSpec& spec, const SharedConfinement& beside, WardenStart start) {
  start.means = beside.means;
  if (beside.means == ConfineMeans::landlock) start.steps = beside.steps;
  if (beside.mounts) start.joins = beside.users ? WardenJoins::users_and_mounts : WardenJoins::mounts;
  Result<LaunchedAgent> launched = launch(spec, start);
  if (!launched) return launched;
  launched->confined = beside.level;
  launched->means = beside.means;
  launched->steps = beside.steps;
  return launched;
}

}  // namespace

Result<LaunchedAgent> launch_agent(const AgentSpec& spec) {
  if (spec.command.empty()) return fail(ErrorCode::invalid_argument, "cannot_start", "no program was named");
  WardenStart start;
  start.directory = spec.directory;
  start.begins_in = spec.begins_in.empty() ? spec.directory : spec.begins_in;
  start.arguments = spec.command;
  start.environment = spec.environment;
  if (spec.beside != nullptr) return launch_beside(spec, *spec.beside, std::move(start));
  const Confinement& wanted = spec.confinement;
  std::string why;
  if (wanted.level != ConfineLevel::none) {
    Result<std::vector<ConfineStep>> steps = plan_confinement(wanted, spec.directory);
    if (!steps) return fail(std::move(steps.error()));
    start.steps = *std::move(steps);
    for (ConfineMeans means : means_for(wanted.level)) {
      if (means == ConfineMeans::landlock) make_places(wanted.writable);
      start.means = means;
      Result<LaunchedAgent> launched = launch(spec, start);
      if (launched) {
        launched->confined = wanted.level;
        launched->means = means;
        launched->steps = std::move(start.steps);
        launched->why_not_better = std::move(why);
        return launched;
      }
      if (launched.error().reason != "cannot_confine") return launched;
      why += (why.empty() ? "" : "; ") + launched.error().message;
    }
    if (wanted.required) {
      return fail(ErrorCode::unavailable, "cannot_confine",
                  "the agent was not started, because this machine cannot confine it at level " +
                      std::string(name(wanted.level)) + " (" + why +
                      "); allow user namespaces here, or set runners.confine to none");
    }
    start.means = ConfineMeans::none;
    start.steps.clear();
  }
  Result<LaunchedAgent> launched = launch(spec, start);
  if (launched) launched->why_not_better = std::move(why);
  return launched;
}

void release_warden(pid_t warden, bool stuck) {
  ::waitpid(warden, nullptr, stuck ? WNOHANG : 0);
  MutexLock lock(wardens().mutex);
  if (!stuck) wardens().pids.erase(warden);
}

std::vector<ProcessStat> orphans_of_wardens(const Visit& visit) {
  std::vector<ProcessStat> all = descendants_of(::getpid());
  pid_t own_session = ::getsid(0);
  std::vector<ProcessStat> orphans;
  std::set<pid_t> known;
  // Read after the snapshot, so that every warden in the snapshot is on the list.
  std::set<pid_t> not_orphans;
  {
    MutexLock lock(wardens().mutex);
    not_orphans = wardens().pids;
  }
  for (const ProcessStat& process : all) {
    bool own_child = process.parent == ::getpid();
    bool orphan = own_child ? process.session != own_session && !not_orphans.contains(process.pid)
                            : known.contains(process.parent);
    if (!orphan) continue;
    known.insert(process.pid);
    orphans.push_back(process);
    if (visit) visit(process);
  }
  return orphans;
}

}  // namespace shepherd
