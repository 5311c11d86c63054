#include "process/warden_agent.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "process/confine.h"
#include "process/confine_landlock.h"
#include "process/limits.h"
#include "process/warden.h"

namespace shepherd {
namespace {

// The child's report before it gives up.
enum class Step : char { confine, directory, program };
struct Failure {
  Step step = Step::directory;
  int error = 0;
  char text[kMaxStartFailureBytes] = {};  // from confine()
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

Result<void> take_steps(const WardenStart& start) {
  switch (start.means) {
    case ConfineMeans::namespaces:
      return start.joins == WardenJoins::none ? confine(start.steps) : confine_beside();
    case ConfineMeans::landlock:
      return confine_by_landlock(start.steps, start.directory);
    default:
      return {};
  }
}

// Returns only on failure.
Failure become_program(const WardenStart& start, pid_t warden) {
  ::setsid();
  if (Result<void> done = take_steps(start); !done) {
    Failure failure{Step::confine};
    done.error().message.copy(failure.text, sizeof failure.text - 1);
    return failure;
  }
  // The agent dies with its warden, which may have died before this line. In a PID namespace the agent cannot see its
  // parent and dies with the namespace's init process.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (start.means != ConfineMeans::namespaces && ::getppid() != warden) ::_exit(1);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(kWardenAgentIn, 0);
  ::dup2(kWardenAgentOut, 1);
  ::dup2(kWardenAgentErr, 2);
  if (::chdir(start.begins_in.c_str()) != 0) return {Step::directory, errno};
  std::vector<char*> arguments = pointers(start.arguments);
  std::vector<char*> environment = pointers(start.environment);
  environ = environment.data();  // execvp reads PATH from it
  ::execvp(arguments[0], arguments.data());
  return {Step::program, errno};
}

Error cannot_start(const std::string& what, int error) {
  bool missing = error == ENOENT || error == ENOTDIR || error == EACCES;
  return Error{
      missing ? ErrorCode::not_found : ErrorCode::internal, "cannot_start", what + ": " + std::strerror(error), {}}
      .with("errno", std::int64_t{error});
}

}  // namespace

Result<pid_t> start_agent(const WardenStart& start) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return fail(cannot_start("cannot make a pipe", errno));
  Descriptor reads(report[0]), writes(report[1]);
  pid_t warden = ::getpid();
  pid_t agent = ::fork();
  if (agent < 0) return fail(cannot_start("cannot fork", errno));
  if (agent == 0) {
    Failure failure = become_program(start, warden);
    [[maybe_unused]] ssize_t told = ::write(writes.get(), &failure, sizeof failure);
    ::_exit(127);
  }
  writes.reset();
  Failure failure;
  ssize_t got = 0;
  do {
    got = ::read(reads.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return agent;  // exec closed the pipe
  ::waitpid(agent, nullptr, 0);
  if (got != sizeof failure) return fail(ErrorCode::internal, "cannot_start", "the agent died while it was started");
  switch (failure.step) {
    case Step::confine:
      return fail(ErrorCode::unavailable, "cannot_confine", failure.text);
    case Step::directory:
      return fail(cannot_start("cannot enter " + start.begins_in, failure.error));
    default:
      return fail(cannot_start("cannot run " + start.arguments.front(), failure.error));
  }
}

}  // namespace shepherd
