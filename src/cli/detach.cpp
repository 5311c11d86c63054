#include "cli/detach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace shepherd {

void Detached::tell(const std::string& text) const {
  if (pipe_ < 0) return;
  std::string_view rest = text;
  while (!rest.empty()) {
    ssize_t written = write(pipe_, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  close(pipe_);
  pipe_ = -1;
}

void Detached::started(const std::string& task, const std::string& link) const {
  tell("ok\n" + task + "\n" + link);
}

void Detached::failed(const Error& error) const {
  tell(fmt::format("{}\n{}\n{}", static_cast<int>(error.code), error.reason, error.message));
}

Result<ExitCode> detach(Context& context, const std::function<Result<ExitCode>(const Detached&)>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::unavailable, "cannot_start",
                fmt::format("cannot go on in the background: {}", std::strerror(errno)));
  }
  context.out.flush();
  context.err.flush();
  pid_t child = fork();
  if (child < 0) {
    return fail(ErrorCode::unavailable, "cannot_start",
                fmt::format("cannot go on in the background: {}", std::strerror(errno)));
  }
  if (child == 0) {
    close(ends[0]);
    setsid();
    int nothing = open("/dev/null", O_RDWR);
    for (int stream : {0, 1, 2}) dup2(nothing, stream);
    if (nothing > 2) close(nothing);
    Detached parent(ends[1]);
    Result<ExitCode> done = work(parent);
    if (!done) parent.failed(done.error());
    _exit(done ? static_cast<int>(*done) : 1);
  }
  close(ends[1]);
  std::string told;
  char bytes[4096];
  for (ssize_t got = 0; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
    told.append(bytes, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  std::size_t first = told.find('\n');
  std::size_t second = first == std::string::npos ? first : told.find('\n', first + 1);
  if (second == std::string::npos) {
    waitpid(child, nullptr, 0);
    return fail(ErrorCode::internal, "detach_failed", "the run in the background ended before it began");
  }
  std::string head = told.substr(0, first);
  std::string middle = told.substr(first + 1, second - first - 1);
  if (head != "ok") {
    waitpid(child, nullptr, 0);
    return fail(static_cast<ErrorCode>(std::atoi(head.c_str())), middle, told.substr(second + 1));
  }
  context.out.line(middle);
  context.err.line(context.err.paint(Color::dim, "-- at " + told.substr(second + 1)));
  return ExitCode::ok;
}

}  // namespace shepherd
