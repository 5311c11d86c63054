#include "steering/repo_token.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "model/json_read.h"
#include "model/json_write.h"
#include "steering/limits.h"

namespace shepherd {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// Waits until `fd` is readable. False: the deadline has passed, or `stop` (-1: none) is readable.
bool wait_readable(int fd, int stop, SteadyTime deadline) {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waiting{pollfd{fd, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
    int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && waiting[1].revents == 0;
  }
}

// Reads until the end, at most kMaxTokenBytes and until the deadline. False: one of them was exceeded.
bool read_all(int fd, int stop, std::string& out, SteadyTime deadline) {
  std::array<char, 4096> buffer{};
  for (;;) {
    if (!wait_readable(fd, stop, deadline)) return false;
    ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    out.append(buffer.data(), static_cast<std::size_t>(got));
    if (out.size() > kMaxTokenBytes) return false;
  }
}

class FileProvider final : public RepoTokenProvider {
 public:
  explicit FileProvider(std::string path) : path_(std::move(path)) {}

  Result<RepoToken> token(const TaskSpec&) override {
    Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    if (file.fd() < 0 || !read_all(file.fd(), -1, text, std::chrono::steady_clock::now() + kTokenCommandTimeout)) {
      return fail(token_provider_failed("the configured file cannot be read"));
    }
    return parse_repo_token(text);
  }

 private:
  std::string path_;
};

// A program in a process group of its own, of which nobody is left when it goes out of scope.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), gone_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  // The group before its leader is reaped: until then nobody else can have its number.
  ~Child() {
    ::kill(-pid_, SIGKILL);
    reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Closing its output is not its end. nullopt: it lives on at the deadline.
  std::optional<int> wait(int stop, SteadyTime deadline) {
    if (gone_.fd() < 0 || !wait_readable(gone_.fd(), stop, deadline)) return std::nullopt;
    ::kill(-pid_, SIGKILL);
    return reap();
  }

 private:
  int reap() {
    while (!reaped_ && ::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    return status_;
  }

  pid_t pid_;
  Descriptor gone_;
  int status_ = 0;
  bool reaped_ = false;
};

class CommandProvider final : public RepoTokenProvider {
 public:
  explicit CommandProvider(std::vector<std::string> command)
      : command_(std::move(command)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  Result<RepoToken> token(const TaskSpec& task) override {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(token_provider_failed("out of descriptors"));
    Descriptor ours(ends[0]), theirs(ends[1]);
    auto pid = spawn(task, theirs.fd());
    if (!pid) return fail(pid.error());
    Child child(*pid);
    theirs.close();
    std::string text;
    SteadyTime deadline = std::chrono::steady_clock::now() + kTokenCommandTimeout;
    bool complete = read_all(ours.fd(), stop_.fd(), text, deadline);
    std::optional<int> status = complete ? child.wait(stop_.fd(), deadline) : std::nullopt;
    if (!status) {
      return fail(token_provider_failed("the configured command did not end in time, or said too much; it was ended"));
    }
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
      return fail(token_provider_failed("the configured command failed"));
    }
    return parse_repo_token(text);
  }

  void cancel() override {
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t wrote = ::write(stop_.fd(), &one, sizeof one);  // never read: it stays
  }

 private:
  Result<pid_t> spawn(const TaskSpec& task, int output) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    environment.push_back("SHEPHERD_TASK_ID=" + task.id);
    environment.push_back("SHEPHERD_REPO_URL=" + task.repo_url);
    environment.push_back("SHEPHERD_REPO_REF=" + task.repo_ref);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // The server blocks the signals by which it is stopped; its child must heed them.
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    auto argv = pointers(command_);
    auto envp = pointers(environment);
    pid_t pid = 0;
    int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      return fail(token_provider_failed("the configured command does not start: " + std::string(std::strerror(error))));
    }
    return pid;
  }

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  }

  std::vector<std::string> command_;
  Descriptor stop_;
};

}  // namespace

Error token_provider_failed(std::string why) {
  return {ErrorCode::unavailable, "token_provider_failed", "No repository token: " + std::move(why) + ".", {}};
}

std::string encode_repo_token(const RepoToken& token) {
  std::string out;
  {
    JsonObject object(out);
    object.text("token", token.token);
    object.time("expiresAt", token.expires_ms);
  }
  return out;
}

Result<RepoToken> parse_repo_token(std::string_view text) {
  RepoToken token;
  if (text.starts_with('{')) {
    JsonParser parser(text.size());
    auto root = parser.parse(text);
    std::string_view secret, expires;
    if (!root || (*root)["token"].get(secret) != simdjson::SUCCESS) {
      return fail(token_provider_failed("the provider's JSON has no \"token\""));
    }
    token.token = secret;
    for (const char* key : {"expiresAt", "expires_at"}) {
      if ((*root)[key].get(expires) != simdjson::SUCCESS) continue;
      if (auto time = parse_timestamp(expires)) token.expires_ms = *time;
    }
  } else {
    token.token = text.substr(0, text.find_first_of("\r\n"));
  }
  if (token.token.empty()) return fail(token_provider_failed("the provider gave an empty one"));
  return token;
}

std::unique_ptr<RepoTokenProvider> make_repo_token_provider(const RepoTokenConfig& config, const Clock& clock) {
  if (!config.command.empty()) return std::make_unique<CommandProvider>(config.command);
  if (!config.github_app_id.empty()) return make_github_app_provider(config, clock);
  if (!config.file.empty()) return std::make_unique<FileProvider>(config.file);
  return nullptr;
}

}  // namespace shepherd
