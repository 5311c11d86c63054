#include "outbound/repo_token.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/mutex.h"
#include "base/whole_file.h"
#include "json/read.h"
#include "json/write.h"
#include "outbound/limits.h"
#include "process/program_output.h"

namespace shepherd {
namespace {

class FileProvider final : public RepoTokenProvider {
 public:
  explicit FileProvider(std::string path) : path_(std::move(path)) {}

  Result<RepoToken> token(const TaskInfo&) override {
    auto text = read_whole_file(path_, kMaxTokenBytes);
    if (!text || !*text) return fail(token_provider_failed("the configured file cannot be read"));
    return parse_repo_token(**text);
  }

 private:
  std::string path_;
};

// The command runs under a warden, so no process of it outlives the call, nor the server.
class CommandProvider final : public RepoTokenProvider {
 public:
  CommandProvider(const RepoTokenConfig& config, const Clock& clock) : clock_(clock) {
    spec_.command = config.command;
    std::error_code error;
    spec_.directory = std::filesystem::current_path(error).string();  // a program's path may be relative to it
    if (error) spec_.directory = "/";
    spec_.with_stdin = false;
    spec_.warden_program = config.warden_program;
  }

  Result<RepoToken> token(const TaskInfo& task) override {
    AgentSpec spec = spec_;
    spec.environment = environment_of(task);
    Running running(*this);
    auto ran = run_program(spec, kTokenCommandTimeout, clock_, &running.stop);
    if (!ran) return fail(token_provider_failed("the configured command does not give one: " + ran.error().message));
    std::fwrite(ran->err.data(), 1, ran->err.size(), stderr);  // for the operator whose program it is
    if (ran->exit.signal != 0) {
      return fail(token_provider_failed("the configured command ended with " + describe(ran->exit)));
    }
    if (ran->exit.code != 0) {
      return fail(
          token_provider_failed("the configured command failed with exit code " + std::to_string(ran->exit.code)));
    }
    if (ran->out.size() > kMaxTokenBytes) return fail(token_provider_failed("the configured command printed too much"));
    return parse_repo_token(ran->out);
  }

  void cancel() override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    cancelled_ = true;
    for (ProgramStop* each : running_) each->stop();
  }

 private:
  // A call that can be cancelled, for its lifetime. Threads: caller.
  struct Running {
    explicit Running(CommandProvider& all) : owner(all) {
      MutexLock lock(owner.mutex_);
      owner.running_.insert(&stop);
      if (owner.cancelled_) stop.stop();
    }
    ~Running() {
      MutexLock lock(owner.mutex_);
      owner.running_.erase(&stop);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    CommandProvider& owner;
    ProgramStop stop;
  };

  static std::vector<std::string> environment_of(const TaskInfo& task) {
    std::vector<std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
    variables.push_back("SHEPHERD_TASK_ID=" + task.id);
    variables.push_back("SHEPHERD_REPO_URL=" + task.repo_url);
    variables.push_back("SHEPHERD_REPO_REF=" + task.repo_ref);
    return variables;
  }

  const Clock& clock_;
  AgentSpec spec_;
  Mutex mutex_;
  std::set<ProgramStop*> running_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
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
  if (!config.command.empty()) return std::make_unique<CommandProvider>(config, clock);
  if (!config.github_app_id.empty()) return make_github_app_provider(config, clock);
  if (!config.file.empty()) return std::make_unique<FileProvider>(config.file);
  return nullptr;
}

}  // namespace shepherd
