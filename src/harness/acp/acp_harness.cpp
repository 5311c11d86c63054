#include "harness/acp/acp_harness.h"

#include <fmt/format.h>
#include <cstdlib>

#include <filesystem>

#include "harness/acp/acp_rules.h"
#include "harness/acp/acp_trial.h"

namespace shepherd::harness {
namespace {

using Steady = std::chrono::steady_clock;

constexpr CheckTitle kAcpChecks[] = {
    {"alive", "The agent stays up"},
    {"initialize", "Version 1 of the protocol is agreed on"},
    {"stdout", "Standard output has only JSON, a message on each line"},
    {"json_rpc", "Messages are JSON-RPC 2.0: ids, answers and errors belong together"},
    {"client_methods", "It calls only methods of the protocol that the client offers"},
    {"unknown_method", "A request of an unknown method is answered with -32601"},
    {"unknown_notification", "An unknown notification is ignored"},
    {"unknown_session", "A prompt for an unknown session is refused"},
    {"relative_cwd", "A session in a relative directory is refused, or is a session"},
    {"session", "A session begins and has an id"},
    {"prompt", "A prompt is answered"},
    {"message", "The answer's words come as updates"},
    {"updates", "Updates have their form and a known session"},
    {"turn_end", "All work of a turn comes before the answer to its prompt"},
    {"stop_reason", "A prompt's answer says why the turn ended"},
    {"tool_calls", "Tool calls come before their updates, with a known status"},
    {"tool_end", "Every tool call gets a final status"},
    {"permission", "Permission requests have their form and their options"},
    {"permission_allowed", "What is allowed is done"},
    {"permission_rejected", "What is rejected is not done, and is not reported as done"},
    {"cancel", "A cancelled prompt is answered with cancelled"},
    {"after_cancel", "A session goes on after a cancel"},
    {"exit", "The end of its input ends the agent"},
    {"survivors", "No process of it is left"},
};

struct AcpScenario {
  const char* title;
  void (*run)(AcpTrial&);
  bool is_turn;
};

constexpr AcpScenario kAcpScenarios[] = {
    {"a prompt", plain_prompt, true},
    {"a command that is allowed", allowed_command, true},
    {"a command that is rejected", rejected_command, true},
    {"cancelling", cancelled_command, true},
    {"the end of its input", end_of_input, false},
};

// A directory that is deleted in the end.
class AcpDirectory {
 public:
  AcpDirectory() {
    std::error_code problem;
    std::string name = (std::filesystem::temp_directory_path(problem) / "shepherd-agent-test-XXXXXX").string();
    if (!problem && ::mkdtemp(name.data()) != nullptr) path_ = std::filesystem::canonical(name, problem).string();
  }
  ~AcpDirectory() {
    std::error_code problem;
    if (!path_.empty()) std::filesystem::remove_all(path_, problem);
  }
  AcpDirectory(const AcpDirectory&) = delete;
  AcpDirectory& operator=(const AcpDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void note_what_was_not_done(Report& report) {
  constexpr std::pair<const char*, const char*> kNotes[] = {
      {"updates", "the agent sent no update"},   {"turn_end", "no prompt was answered"},
      {"stop_reason", "no prompt was answered"}, {"tool_calls", "the agent called no tool"},
      {"tool_end", "the agent called no tool"},  {"permission", "the agent asked for no permission"},
  };
  for (const auto& [check, note] : kNotes) report.skip(check, note);
}

// False if the agent has ended, which is then in the report.
bool still_up(AcpTrial& trial, const std::string& during) {
  if (trial.peer.running()) return true;
  std::string tail = trial.peer.tail();
  trial.report.fail("alive", "agent_ended",
                    fmt::format("the agent ended with {} during: {}{}", trial.peer.exit_text(), during,
                                tail.empty() ? "" : "; it printed:\n" + tail));
  trial.report.skip_rest("not tried: the agent had ended");
  return false;
}

Result<void> run_scenarios(AcpTrial& trial) {
  auto progress = [&trial](const std::string& title) {
    if (trial.options.progress) trial.options.progress(title);
  };
  progress("initialize");
  if (auto begun = initialize(trial); !begun) return begun;
  progress("what an agent does not know");
  unknown_things(trial);
  if (!still_up(trial, "unknown methods")) return {};
  unknown_session(trial);
  relative_directory(trial);
  if (!still_up(trial, "sessions that cannot be")) return {};
  progress("a session");
  if (auto begun = new_session(trial); !begun) return begun;
  for (const AcpScenario& scenario : kAcpScenarios) {
    if (scenario.is_turn && (trial.session.empty() || trial.silent)) continue;
    progress(scenario.title);
    scenario.run(trial);
    if (scenario.is_turn && !still_up(trial, scenario.title)) return {};
  }
  trial.report.pass("alive");
  if (trial.silent) trial.report.skip_rest("not tried: a prompt was not answered");
  if (trial.session.empty()) trial.report.skip_rest("not tried: there is no session");
  return {};
}

}  // namespace

std::span<const CheckTitle> acp_checks() {
  return kAcpChecks;
}

Result<Report> test_acp_agent(const AcpHarnessOptions& options) {
  Steady::time_point begun = Steady::now();
  Report report(acp_checks());
  report.agent = readable(fmt::format("{}", fmt::join(options.command, " ")));
  AcpDirectory directory;
  if (directory.path().empty()) {
    return fail(ErrorCode::unavailable, "no_directory", "no temporary directory can be made; is TMPDIR a directory?");
  }
  std::error_code problem;
  AgentSpec spec;
  spec.command = options.command;
  spec.environment = options.environment;
  spec.directory = std::filesystem::current_path(problem).string();
  if (problem) spec.directory = "/";
  spec.warden_program = options.warden_program;
  auto peer = AcpPeer::start(spec);
  if (!peer) return fail(peer.error());
  AcpTrial trial{.options = options, .report = report, .peer = **peer, .directory = directory.path()};
  if (auto run = run_scenarios(trial); !run) return fail(run.error());
  check_acp_rules(trial.peer.transcript(), report);
  if (trial.peer.printed_too_much()) {
    report.fail("stdout", "too_much",
                fmt::format("it printed more than {} lines or {} MiB", kMaxAcpLines, kMaxAcpBytes / 1024 / 1024));
  }
  note_what_was_not_done(report);
  report.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - begun).count();
  return report;
}

}  // namespace shepherd::harness
