#include "runner/git.h"

#include <utility>

namespace shepherd {

std::vector<std::string> git_credentials(const std::string& token) {
  if (token.empty()) return {};
  constexpr const char* kHelper =
      "!f() { test \"$1\" = get && printf 'username=x-access-token\\npassword=%s\\n' "
      "\"$SHEPHERD_REPOSITORY_TOKEN\"; }; f";
  // The first, empty helper keeps those of the system and the user out of it: they might store the token.
  return {"SHEPHERD_REPOSITORY_TOKEN=" + token, "GIT_CONFIG_COUNT=2",
          "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=",
          "GIT_CONFIG_KEY_1=credential.helper", std::string("GIT_CONFIG_VALUE_1=") + kHelper};
}

Git::Git(std::string directory, std::vector<std::string> environment, const Clock& clock, std::string warden_program)
    : directory_(std::move(directory)),
      environment_(std::move(environment)),
      clock_(&clock),
      warden_program_(std::move(warden_program)) {
  environment_.emplace_back("GIT_TERMINAL_PROMPT=0");
  environment_.emplace_back("GIT_OPTIONAL_LOCKS=0");  // looking must not disturb an agent that works there
  environment_.emplace_back("LC_ALL=C");
}

Git Git::in(std::string directory) const {
  Git other = *this;
  other.directory_ = std::move(directory);
  return other;
}

Git Git::stopped_by(ProgramStop* stop) const {
  Git other = *this;
  other.stop_ = stop;
  return other;
}

Git Git::within(std::chrono::milliseconds timeout) const {
  Git other = *this;
  other.timeout_ = timeout;
  return other;
}

Result<std::string> Git::run(std::vector<std::string> words) const {
  AgentSpec spec;
  spec.command = {"git", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null"};
  spec.command.insert(spec.command.end(), words.begin(), words.end());
  spec.environment = environment_;
  spec.directory = directory_;
  spec.with_stdin = false;
  spec.warden_program = warden_program_;
  Result<ProgramOutput> ran = run_program(spec, timeout_, *clock_, stop_);
  if (!ran) return fail(std::move(ran.error()));
  auto trimmed = [](std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  };
  if (!ran->good()) {
    return fail(ErrorCode::unavailable, "git_failed",
                "git " + words.front() + ": " + (ran->err.empty() ? describe(ran->exit) : trimmed(ran->err)));
  }
  return trimmed(std::move(ran->out));
}

}  // namespace shepherd
