#include "runner/warden_agent.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "runner/descriptor.h"
#include "runner/warden.h"

namespace shepherd {
namespace {

struct Failure {
  int error = 0;
  char step = 0;  // 'd' for the directory, 'p' for the program
};

std::vector<char*> pointers(const std::vector<std::string>& words, std::size_t from, std::size_t to) {
  std::vector<char*> list;
  for (std::size_t i = from; i < to; ++i) list.push_back(const_cast<char*>(words[i].c_str()));
  list.push_back(nullptr);
  return list;
}

// In the child: no way back.
[[noreturn]] void become_agent(const char* directory, char** arguments, char** environment, pid_t warden, int report) {
  ::setsid();
  // The warden's death is the agent's; it may have died before this line.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != warden) ::_exit(1);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(kWardenAgentIn, 0);
  ::dup2(kWardenAgentOut, 1);
  ::dup2(kWardenAgentErr, 2);
  Failure failure{0, 'd'};
  if (::chdir(directory) == 0) {
    failure.step = 'p';
    environ = environment;  // execvp looks into its PATH
    ::execvp(arguments[0], arguments);
  }
  failure.error = errno;
  [[maybe_unused]] ssize_t told = ::write(report, &failure, sizeof failure);
  ::_exit(127);
}

Error cannot_start(const std::string& what, int error) {
  bool missing = error == ENOENT || error == ENOTDIR || error == EACCES;
  return Error{
      missing ? ErrorCode::not_found : ErrorCode::internal, "cannot_start", what + ": " + std::strerror(error), {}}
      .with("errno", std::int64_t{error});
}

}  // namespace

Result<pid_t> start_agent(const WardenMessage& start) {
  auto arguments_end = start.numbers.empty() ? std::size_t{0} : 1 + static_cast<std::size_t>(start.numbers[0]);
  if (arguments_end < 2 || arguments_end > start.words.size()) {
    return fail(ErrorCode::internal, "cannot_start", "no program was named");
  }
  std::vector<char*> arguments = pointers(start.words, 1, arguments_end);
  std::vector<char*> environment = pointers(start.words, arguments_end, start.words.size());
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return fail(cannot_start("cannot make a pipe", errno));
  Descriptor reads(report[0]), writes(report[1]);
  pid_t warden = ::getpid();
  pid_t agent = ::fork();
  if (agent < 0) return fail(cannot_start("cannot fork", errno));
  if (agent == 0) {
    become_agent(start.words[0].c_str(), arguments.data(), environment.data(), warden, writes.get());
  }
  writes.reset();
  Failure failure;
  ssize_t got = 0;
  do {
    got = ::read(reads.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return agent;  // the pipe closed by exec
  ::waitpid(agent, nullptr, 0);
  if (got != sizeof failure) return fail(ErrorCode::internal, "cannot_start", "the agent died while it was started");
  return fail(failure.step == 'd' ? cannot_start("cannot enter " + start.words[0], failure.error)
                                  : cannot_start("cannot run " + start.words[1], failure.error));
}

}  // namespace shepherd
