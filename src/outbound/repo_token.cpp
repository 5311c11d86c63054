#include "outbound/repo_token.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "json/read.h"
#include "json/write.h"
#include "outbound/limits.h"
#include "outbound/token_command.h"

namespace shepherd {
namespace {

// Reads to the end, at most kMaxTokenBytes and until the deadline. Returns false if one of them was exceeded.
bool read_all(int fd, int stop, std::string& out, TokenCommand::Deadline deadline) {
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

  Result<RepoToken> token(const TaskInfo&) override {
    Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    if (file.get() < 0 || !read_all(file.get(), -1, text, std::chrono::steady_clock::now() + kTokenCommandTimeout)) {
      return fail(token_provider_failed("the configured file cannot be read"));
    }
    return parse_repo_token(text);
  }

 private:
  std::string path_;
};

class CommandProvider final : public RepoTokenProvider {
 public:
  explicit CommandProvider(std::vector<std::string> command)
      : command_(std::move(command)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  Result<RepoToken> token(const TaskInfo& task) override {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(token_provider_failed("out of descriptors"));
    Descriptor ours(ends[0]), theirs(ends[1]);
    auto command = TokenCommand::start(command_, environment_of(task), theirs.get());
    if (!command) return fail(command.error());
    theirs.reset();
    std::string text;
    TokenCommand::Deadline deadline = std::chrono::steady_clock::now() + kTokenCommandTimeout;
    bool complete = read_all(ours.get(), stop_.get(), text, deadline);
    std::optional<int> code = complete ? command->wait(stop_.get(), deadline) : std::nullopt;
    if (!code) {
      return fail(token_provider_failed("the configured command did not end in time, or said too much; it was ended"));
    }
    if (*code != 0) {
      return fail(token_provider_failed("the configured command failed" +
                                        (*code > 0 ? " with exit code " + std::to_string(*code) : std::string())));
    }
    return parse_repo_token(text);
  }

  void cancel() override {
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t wrote = ::write(stop_.get(), &one, sizeof one);  // never read, so it stays readable
  }

 private:
  static std::vector<std::string> environment_of(const TaskInfo& task) {
    std::vector<std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
    variables.push_back("SHEPHERD_TASK_ID=" + task.id);
    variables.push_back("SHEPHERD_REPO_URL=" + task.repo_url);
    variables.push_back("SHEPHERD_REPO_REF=" + task.repo_ref);
    return variables;
  }

  std::vector<std::string> command_;
  Descriptor stop_;
};

}  // namespace

Error token_provider_failed(std::string why) {
  return {ErrorCode::unavailable, "token_provider_failed", "No repository token: " + std::move(why) + ".", {}};
}

std::string encode_repo_token(const RepoToken& token) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("token", token.token);
    object.time("expiresAt", token.expires_ms);
  });
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
