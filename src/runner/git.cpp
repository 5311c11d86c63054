#include "runner/git.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace shepherd {

namespace {

struct Origin {
  std::string_view scheme, host;  // host with port
};

// Parses "https://user@host:1/path"; the scheme is empty for other forms.
Origin origin_of(std::string_view url) {
  std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  std::string_view rest = url.substr(scheme + 3);
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  return {url.substr(0, scheme), authority.substr(authority.rfind('@') + 1)};
}

bool is_this_machine(std::string_view host) {
  std::string_view name = host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  if (name == "localhost" || name == "[::1]") return true;
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_set(const std::vector<std::string>& environment, std::string_view name) {
  return std::ranges::any_of(environment, [&](const std::string& each) {
    return each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=';
  });
}

// Excludes variables that make git run or fetch something, or that give away a credential after the agent's end.
bool is_kept_for_inspection(std::string_view variable) {
  std::string_view name = variable.substr(0, variable.find('='));
  return !name.starts_with("GIT_") && name != "SHEPHERD_REPOSITORY_TOKEN" && name != "SSH_ASKPASS";
}

// "filter.lfs.clean" belongs to the filter "filter.lfs".
std::set<std::string> filters_of(std::string_view keys) {
  std::set<std::string> filters;
  for (const std::string& key : lines_of(keys)) {
    std::size_t last = key.rfind('.');
    if (key.starts_with("filter.") && last > std::string_view("filter").size()) filters.insert(key.substr(0, last));
  }
  return filters;
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
  }
  return lines;
}

bool takes_token(std::string_view repo_url) {
  Origin origin = origin_of(repo_url);
  return !origin.host.empty() &&
         (origin.scheme == "https" || (origin.scheme == "http" && is_this_machine(origin.host)));
}

std::vector<std::string> git_credentials(const std::string& token, std::string_view repo_url) {
  if (token.empty() || !takes_token(repo_url)) return {};
  constexpr const char* kHelper =
      "!f() { test \"$1\" = get && printf 'username=x-access-token\\npassword=%s\\n' "
      "\"$SHEPHERD_REPOSITORY_TOKEN\"; }; f";
  Origin origin = origin_of(repo_url);
  std::string own = "credential." + std::string(origin.scheme) + "://" + std::string(origin.host) + ".helper";
  // The first, empty helper disables those of the system and the user, which might store the token.
  return {"SHEPHERD_REPOSITORY_TOKEN=" + token,
          "GIT_CONFIG_COUNT=2",
          "GIT_CONFIG_KEY_0=credential.helper",
          "GIT_CONFIG_VALUE_0=",
          "GIT_CONFIG_KEY_1=" + own,
          std::string("GIT_CONFIG_VALUE_1=") + kHelper};
}

std::string task_branch(std::string_view task) {
  std::string branch = "shepherd/";
  for (std::size_t i = 0; i < task.size(); ++i) {
    std::string_view rest = task.substr(i);
    bool bad = rest.front() == '.' && (i == 0 || rest.size() == 1 || rest[1] == '.' || rest == ".lock");
    branch += bad ? std::string("%2E") : std::string(rest.substr(0, 1));
  }
  return branch;
}

Git::Git(std::string directory, std::vector<std::string> environment, const Clock& clock, std::string warden_program)
    : directory_(std::move(directory)),
      environment_(std::move(environment)),
      clock_(&clock),
      warden_program_(std::move(warden_program)) {
  environment_.emplace_back("GIT_TERMINAL_PROMPT=0");
  environment_.emplace_back("GIT_OPTIONAL_LOCKS=0");  // inspection must not disturb an agent that works there
  environment_.emplace_back("LC_ALL=C");
  // A URL must not become the name of a program. An existing setting is the user's choice.
  if (!is_set(environment_, "GIT_ALLOW_PROTOCOL")) {
    environment_.emplace_back("GIT_ALLOW_PROTOCOL=https:http:ssh:git:file");
  }
}

Git Git::in(std::string directory) const {
  Git other = *this;
  other.directory_ = std::move(directory);
  return other;
}

Git Git::pinned_to(const std::string& repository, const std::string& tree) const {
  Git other = in(tree);
  if (!repository.empty()) other.environment_.push_back("GIT_DIR=" + repository);
  other.environment_.push_back("GIT_WORK_TREE=" + tree);
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

Git Git::inspecting() const {
  Git other = *this;
  other.inspecting_ = true;
  other.timeout_ = kGitLookTimeout;
  std::erase_if(other.environment_, [](const std::string& each) { return !is_kept_for_inspection(each); });
  for (const char* variable : {"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_GLOBAL=/dev/null",
                               "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
                               "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
                               "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_SSH_COMMAND=false", "GIT_ASKPASS=false"}) {
    other.environment_.emplace_back(variable);
  }
  return other;
}

// Each filter has its own name and is switched off by that name, through variables, which accept any name. Reading a
// configuration runs nothing of it.
Git Git::without_filters() const {
  Git other = *this;
  int count = 0;
  auto set = [&](const std::string& key, const char* value) {
    std::string number = std::to_string(count++);
    other.environment_.push_back("GIT_CONFIG_KEY_" + number + "=" + key);
    other.environment_.push_back("GIT_CONFIG_VALUE_" + number + "=" + value);
  };
  for (const std::string& filter : filters_of(ask({"config", "--name-only", "--get-regexp", "^filter\\."}))) {
    for (const char* program : {".clean", ".smudge", ".process"}) set(filter + program, "");
    set(filter + ".required", "false");
  }
  other.environment_.push_back("GIT_CONFIG_COUNT=" + std::to_string(count));
  return other;
}

Result<std::string> Git::run(std::vector<std::string> words) const {
  std::vector<std::string> command{
      "git", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"};
  if (inspecting_) {
    for (const char* off :
         {"core.untrackedCache=false", "core.attributesFile=/dev/null", "core.sshCommand=false", "core.pager=cat",
          "core.alternateRefsCommand=true", "credential.helper=", "diff.external=", "log.showSignature=false",
          "gpg.program=false", "submodule.recurse=false", "diff.ignoreSubmodules=all", "safe.directory=*"}) {
      command.emplace_back("-c");
      command.emplace_back(off);
    }
  }
  std::string name = words.front();
  std::ranges::move(words, std::back_inserter(command));
  AgentSpec spec;
  spec.command = std::move(command);
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
                "git " + name + ": " + (ran->err.empty() ? describe(ran->exit) : trimmed(ran->err)));
  }
  return trimmed(std::move(ran->out));
}

}  // namespace shepherd
