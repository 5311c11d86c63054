// Repository credentials for runners, from the configured provider: a file, a command, or a GitHub App. The server
// gives them out once per lease, or once for an unclaimed task; it neither stores nor logs them.
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
  std::int64_t expires_ms = 0;  // 0 if the provider gives none
};
std::string encode_repo_token(const RepoToken& token);  // {"token","expiresAt"}

// Parses a program's or a file's answer: the token as its first line, or {"token","expiresAt"?}.
Result<RepoToken> parse_repo_token(std::string_view text);

struct RepoTokenConfig {
  std::string file;
  std::vector<std::string> command;  // argv; the process gets SHEPHERD_TASK_ID, SHEPHERD_REPO_URL, SHEPHERD_REPO_REF
  std::string github_app_id;         // has the key in github_app_key_file
  std::string github_app_key_file;   // PEM
  std::string github_api_url = "https://api.github.com";
  std::string warden_program = "/proc/self/exe";  // see AgentSpec
};

// Threads: any. Blocks, so call it on a thread that may wait.
class RepoTokenProvider {
 public:
  virtual ~RepoTokenProvider() = default;
  // unavailable/token_provider_failed describes the failure without secrets.
  virtual Result<RepoToken> token(const TaskInfo& task) = 0;
  // Makes active and later calls fail soon, because the server stops.
  virtual void cancel() {}
};

// The first configured one of command, GitHub App and file; nullptr if there is none.
std::unique_ptr<RepoTokenProvider> make_repo_token_provider(const RepoTokenConfig& config, const Clock& clock);

std::unique_ptr<RepoTokenProvider> make_github_app_provider(const RepoTokenConfig& config, const Clock& clock);

Error token_provider_failed(std::string why);

}  // namespace shepherd
