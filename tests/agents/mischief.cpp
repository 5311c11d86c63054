#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>

#include "mischief.h"

namespace scripted {
namespace {

// A child that a broken test leaves behind ends by itself.
constexpr unsigned kChildLivesSeconds = 120;

int signal_number(const json::value& value) {
  static const std::map<std::string_view, int> kNames{{"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"KILL", SIGKILL},
                                                      {"BUS", SIGBUS},   {"TERM", SIGTERM}, {"PIPE", SIGPIPE}};
  if (value.is_number()) return value.to_number<int>();
  auto found = kNames.find(std::string_view(value.as_string()));
  return found != kNames.end() ? found->second : SIGABRT;
}

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    int byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

// Two short numbers: one long one looks like a card number to a redactor.
std::string seconds(std::int64_t ns) {
  std::array<char, 32> out;
  std::snprintf(out.data(), out.size(), "%lld.%09lld", static_cast<long long>(ns / 1'000'000'000),
                static_cast<long long>(ns % 1'000'000'000));
  return out.data();
}

[[noreturn]] void live(bool stubborn, bool holds_output) {
  int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  if (!holds_output) {
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
  }
  if (stubborn) {
    for (int each : {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGUSR1}) signal(each, SIG_IGN);
  } else {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
  }
  alarm(kChildLivesSeconds);
  for (;;) pause();
}

void record_pid() {
  const char* path = std::getenv("SCRIPTED_AGENT_PIDS");
  if (path == nullptr) return;
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  const char* task = std::getenv("SHEPHERD_TASK_ID");
  std::string line = std::to_string(getpid()) + " " + (task != nullptr ? task : "-") + "\n";
  if (write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
}

}  // namespace

void MischievousAgent::process_began() {
  record_pid();
}

bool MischievousAgent::perform_more(const json::object& step) {
  auto given = [&](std::string_view key) { return step.if_contains(key); };
  if (given("rate")) {
    tick(step);
  } else if (given("burst")) {
    for (double i = 0; i < number(step, "burst"); ++i)
      voice_.text(text(step, "text", "burst") + " " + std::to_string(static_cast<int>(i + 1)));
  } else if (given("flood")) {
    flood(number(step, "flood"));
  } else if (given("huge")) {
    voice_.text(std::string(static_cast<std::size_t>(number(step, "huge")), 'x'));
  } else if (given("raw")) {
    voice_.raw(text(step, "raw") + (step.contains("newline") && !truth(step, "newline") ? "" : "\n"));
  } else if (given("hex")) {
    voice_.raw(bytes_of(text(step, "hex")));
  } else if (given("garbage")) {
    garbage(text(step, "garbage"));
  } else if (given("stderr")) {
    std::cerr << text(step, "stderr") << std::endl;
  } else if (given("silent")) {
    std::int64_t ms = static_cast<std::int64_t>(number(step, "silent"));
    for (std::int64_t end = monotonic_ns() + ms * 1'000'000; ms == 0 || monotonic_ns() < end;) {
      pump(ms == 0 ? Input::kForever : end, false);
      if (interrupted_) break;
    }
  } else if (given("close")) {
    close(text(step, "close") == "stderr" ? STDERR_FILENO : STDOUT_FILENO);
  } else if (given("ignore")) {
    for (const json::value& each : given("ignore")->as_array()) ignored_.emplace(each.as_string());
  } else if (given("fork")) {
    fork_children(step);
  } else if (given("exit")) {
    leave(static_cast<int>(number(step, "exit")));
  } else if (given("crash")) {
    rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    sigset_t all;
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    int which = signal_number(*given("crash"));
    signal(which, SIG_DFL);
    kill(getpid(), which);
  } else {
    return false;
  }
  return true;
}

// Lines at a steady rate, each with the time it was said: what a bench subtracts from when it was seen.
void MischievousAgent::tick(const json::object& step) {
  auto gap = static_cast<std::int64_t>(1e9 / number(step, "rate"));
  auto lines = static_cast<std::int64_t>(number(step, "lines"));
  std::int64_t begin = monotonic_ns() + static_cast<std::int64_t>(getpid()) * 7'919'000 % gap;  // not all in step
  for (std::int64_t i = 0; i < lines && !over(); ++i) {
    pump(begin + i * gap);
    if (over()) return;
    voice_.text("tick " + std::to_string(i + 1) + " at " + seconds(wall_ns()));
  }
}

// As much as the reader takes, as fast as it takes it.
void MischievousAgent::flood(double bytes) {
  std::string words(4000, 'f');
  for (double said = 0; said < bytes && !over(); said += static_cast<double>(words.size())) {
    voice_.text(words);
    pump(0);
  }
}

void MischievousAgent::garbage(std::string_view kind) {
  using std::string_view_literals::operator""sv;
  static const std::map<std::string_view, std::string_view> kBytes{
      {"nul", "{\"type\":\"assistant\"\0,\0}\n"sv},
      {"utf8", "caf\xE9 \xC3\x28 \xF0\x9F\x92\n"sv},
      {"json", "{\"type\":\"assistant\",\"message\":{\"content\":[{\n"sv},
      {"surrogate", "{\"type\":\"system\",\"subtype\":\"informational\",\"content\":\"\\ud83d alone\"}\n"sv},
      {"blank", "\n   \n\r\n"sv},
      {"unknown", "{\"type\":\"from_the_future\",\"value\":1}\n"sv},
      {"escape", "\x1b[2J\x1b]0;title\x07 plain\n"sv},
  };
  auto found = kBytes.find(kind);
  voice_.raw(found != kBytes.end() ? found->second : "garbage\n"sv);
}

// Children that outlive what started them. The step ends when each of them has recorded its process id.
void MischievousAgent::fork_children(const json::object& how) {
  bool session = truth(how, "setsid"), twice = truth(how, "twice");
  bool stubborn = truth(how, "stubborn"), holds = truth(how, "hold_stdout");
  auto count = static_cast<int>(number(how, "fork", 1));
  std::array<int, 2> ready{};
  if (pipe2(ready.data(), O_CLOEXEC) != 0) return;
  for (int i = 0; i < count; ++i) {
    if (fork() != 0) continue;
    if (session) setsid();
    if (twice && fork() != 0) _exit(0);
    record_pid();
    if (write(ready[1], "1", 1) != 1) _exit(1);
    live(stubborn, holds);
  }
  close(ready[1]);
  char byte = 0;
  for (int i = 0; i < count && read(ready[0], &byte, 1) == 1; ++i) {
  }
  close(ready[0]);
}

}  // namespace scripted
