#include "cli/doctor.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/limits.h"
#include "cli/known_agents.h"
#include "cli/limits.h"
#include "driver/registry/registry.h"
#include "follow/limits.h"
#include "host/data_lock.h"
#include "json/scan.h"
#include "net/limits.h"
#include "runner/agent_version.h"
#include "runner/limits.h"
#include "runner/task_run.h"
#include "store/sqlite/check.h"
#include "terminal/span_text.h"

namespace shepherd {
namespace {

using Level = Finding::Level;

constexpr std::size_t kShownProblems = 10;
constexpr const char* kRestore = "stop the server, keep a copy of the data directory, restore the newest backup";
constexpr std::int64_t kEarliestMs = 1'735'689'600'000;  // 2025; an earlier clock was never set

Finding examine_mode(const std::string& path, const char* subject, mode_t allowed) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) {
    return {Level::fail, subject, fmt::format("{}: {}", path, std::strerror(errno)), "start \"shepherd serve\" once"};
  }
  mode_t mode = facts.st_mode & 0777;
  if ((mode & ~allowed) != 0) {
    return {Level::warn, subject, fmt::format("{} has mode {:o}: others on this machine can look inside", path, mode),
            fmt::format("chmod {:o} {}", allowed, path)};
  }
  if (facts.st_uid != geteuid()) {
    return {Level::warn, subject, fmt::format("{} belongs to another user", path), "run shepherd as that user"};
  }
  return {Level::ok, subject, fmt::format("{} (mode {:o})", path, mode), ""};
}

Finding examine_disk(const std::string& directory) {
  struct statvfs facts{};
  if (statvfs(directory.c_str(), &facts) != 0) return {Level::warn, "disk", std::strerror(errno), ""};
  std::uint64_t free_bytes = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  Level level = free_bytes < kDiskFailBytes ? Level::fail : free_bytes < kDiskWarnBytes ? Level::warn : Level::ok;
  return {level, "disk", fmt::format("{} free", bytes_text(free_bytes)),
          level == Level::ok ? "" : "make room, or set retention.days or retention.bytes lower"};
}

Finding examine_port(const std::string& listen, const char* subject) {
  std::string host = listen.substr(0, listen.rfind(':'));
  std::string port = listen.substr(listen.rfind(':') + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return {Level::fail, subject, fmt::format("{}: {}", listen, gai_strerror(error)), "correct the address"};
  }
  int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  bool bound = bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 && ::listen(descriptor, 1) == 0;
  int why = errno;
  close(descriptor);
  freeaddrinfo(found);
  if (bound) return {Level::ok, subject, fmt::format("{} is free", listen), ""};
  return {Level::fail, subject, fmt::format("{}: {}", listen, std::strerror(why)),
          fmt::format("stop what uses it (ss -ltnp 'sport = :{}') or choose another address", port)};
}

std::uint64_t number_member(std::string_view object, std::string_view name) {
  std::string_view source = find_member(object, name);
  std::uint64_t value = 0;
  std::from_chars(source.data(), source.data() + source.size(), value);
  return value;
}

}  // namespace

std::vector<Finding> examine_data(const std::string& directory) {
  std::vector<Finding> findings{examine_mode(directory, "data", 0700)};
  if (findings.front().level == Level::fail) return findings;
  findings.push_back(examine_mode(directory + "/" + kAdminTokenFile, "admin token", 0600));
  if (std::optional<std::int64_t> pid = DataLock::holder(directory)) {
    findings.push_back({Level::ok, "lock", fmt::format("held by the running server, process {}", *pid), ""});
  } else {
    findings.push_back({Level::ok, "lock", "free: no server is running", ""});
  }
  findings.push_back(examine_disk(directory));
  return findings;
}

std::vector<Finding> examine_database(const std::string& directory) {
  std::string path = directory + "/shepherd.db";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return {{Level::warn, "database", fmt::format("{} does not exist yet", path), "start \"shepherd serve\" once"}};
  }
  Result<std::vector<std::string>> problems = check_store(path);
  if (!problems) return {{Level::fail, "database", problems.error().message, kRestore}};
  if (problems->empty()) {
    return {{Level::ok, "database",
             fmt::format("every page and every log is sound ({})", bytes_text(std::filesystem::file_size(path, error))),
             ""}};
  }
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < std::min(problems->size(), kShownProblems); ++i) {
    findings.push_back({Level::fail, "database", i == 0 ? path + ": " + (*problems)[i] : (*problems)[i], ""});
  }
  std::size_t hidden = problems->size() - findings.size();
  if (hidden > 0) findings.push_back({Level::fail, "database", fmt::format("and {} more problems", hidden), ""});
  findings.back().advice = kRestore;
  return findings;
}

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings;
  std::int64_t now_ms = SystemClock().wall_ms();
  timex clock{};
  bool unsynchronised = adjtimex(&clock) == TIME_ERROR;
  if (now_ms < kEarliestMs) {
    findings.push_back({Level::fail, "clock", format_timestamp(now_ms), "set the machine's clock"});
  } else if (unsynchronised) {
    findings.push_back({Level::warn, "clock", fmt::format("{}, not synchronised", format_timestamp(now_ms)),
                        "run a time service (chrony, systemd-timesyncd): retention goes by this clock"});
  } else {
    findings.push_back({Level::ok, "clock", fmt::format("{}, synchronised", format_timestamp(now_ms)), ""});
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  bool few = files.rlim_max < kMaxConnections;
  findings.push_back({few ? Level::warn : Level::ok, "open files", fmt::format("at most {}", files.rlim_max),
                      few ? fmt::format("each connection needs one; for {} raise the limit (LimitNOFILE=, ulimit -Hn)",
                                        kMaxConnections)
                          : ""});
  return findings;
}

Finding examine_claude(const Config& config) {
  std::string program = config.claude_program.empty() ? "claude" : config.claude_program;
  AgentSpec question;
  question.command = {program, "--version"};
  question.environment = agent_environment();
  question.directory = "/";
  question.with_stdin = false;
  SystemClock clock;
  Result<ProgramOutput> answer = run_program(question, kVersionTimeout, clock);
  std::string version = answer && answer->good() ? version_line(answer->out) : "";
  if (!version.empty()) return {Level::ok, "agent claude", fmt::format("{} is {}", program, version), ""};
  if (answer) {
    return {Level::warn, "agent claude", fmt::format("\"{} --version\" says no version", program),
            "start it by hand and see; claude.program in the configuration names another one"};
  }
  return {Level::warn, "agent claude", fmt::format("{}: {}", program, answer.error().message),
          "install Claude Code (npm install -g @anthropic-ai/claude-code) and sign in by running it once, or set "
          "claude.program; other agents (shepherd agents), commands and posted events work without it"};
}

std::vector<Finding> examine_agents(const Config& config) {
  std::vector<Finding> findings{examine_claude(config)};
  for (const std::string& name : agent_names(config)) {
    std::optional<AgentEntry> entry = agent_entry(config, name);
    if (name == "claude" || !entry || entry->program() == nullptr) continue;
    std::string program = find_program(entry->program()->command.front(), {});
    if (!program.empty()) {
      std::string version = version_of_program(*make_driver(entry->driver), program);
      findings.push_back(
          {Level::ok, "agent " + name, version.empty() ? program : fmt::format("{} is {}", program, version), ""});
    } else if (config.agents.contains(name)) {
      findings.push_back({Level::warn, "agent " + name,
                          fmt::format("there is no program {}", entry->program()->command.front()),
                          fmt::format("correct agents.{}.command in the configuration", name)});
    }
  }
  return findings;
}

std::vector<Finding> examine_ports(const Config& config) {
  return {examine_port(config.public_port.listen, "public"), examine_port(config.internal.listen, "internal")};
}

std::vector<Finding> examine_server(ApiClient& client) {
  const std::string& url = client.destination().public_url;
  Result<std::string> me = client.whoami();
  if (!me) return {{Level::fail, "server", me.error().message, "see the server's log; restart it if it hangs"}};
  std::vector<Finding> findings{{Level::ok, "server", fmt::format("answers at {}", url), ""}};
  Result<SearchAnswer> search = client.search("doctor", {{"limit", "1"}});
  if (!search) {
    findings.push_back({Level::warn, "search", search.error().message, ""});
    return findings;
  }
  std::uint64_t head = number_member(search->json, "head");
  std::uint64_t behind = head - std::min(head, search->indexed_through);
  bool lagging = behind > 10 * kIndexBatchEvents;
  findings.push_back({lagging ? Level::warn : Level::ok, "search",
                      behind == 0 ? "the index is up to date" : fmt::format("{} events are not indexed yet", behind),
                      lagging ? "it catches up by itself when the machine has time" : ""});
  return findings;
}

}  // namespace shepherd
