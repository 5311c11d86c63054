// Repository credentials for runners, from the source that the configuration names: a file, a command, or a GitHub App.
// The server hands them out once per lease, or once to a task without a claim; it neither keeps nor logs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/task.h"

namespace shepherd {

struct RepoToken {
  std::string token;
  std::int64_t expires_ms = 0;  // 0: the provider did not say
};
std::string encode_repo_token(const RepoToken& token);  // {"token","expiresAt"}

// A program's or a file's answer: the token as its first line, or {"token","expiresAt"?}.
Result<RepoToken> parse_repo_token(std::string_view text);

struct RepoTokenConfig {
  std::string file;
  std::vector<std::string> command;  // argv; sees SHEPHERD_TASK_ID, SHEPHERD_REPO_URL, SHEPHERD_REPO_REF
  std::string github_app_id;         // with github_app_key_file
  std::string github_app_key_file;   // PEM
  std::string github_api_url = "https://api.github.com";
};

// Threads: any. Blocks: for a thread that may wait.
class RepoTokenProvider {
 public:
  virtual ~RepoTokenProvider() = default;
  // unavailable/token_provider_failed says what went wrong, without secrets.
  virtual Result<RepoToken> token(const TaskSpec& task) = 0;
  // What is under way, and every later call, fails soon: the server stops.
  virtual void cancel() {}
};

// The first of command, GitHub App and file that is configured; nullptr: none is.
std::unique_ptr<RepoTokenProvider> make_repo_token_provider(const RepoTokenConfig& config, const Clock& clock);

std::unique_ptr<RepoTokenProvider> make_github_app_provider(const RepoTokenConfig& config, const Clock& clock);

Error token_provider_failed(std::string why);

}  // namespace shepherd
