#include <array>

#include "driver/codex/codex.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 2> kFormatNames{"app-server", "exec-json"};

Result<void> check_launch(const Launch& launch) {
  auto not_an_option = [](std::string_view what, std::string_view value) -> Result<void> {
    if (!value.starts_with('-')) return {};
    return fail(ErrorCode::invalid_argument, "bad_launch",
                std::string(what) + " may not begin with a dash: the agent would read it as an option");
  };
  if (launch.prompt.empty() && launch.resume_session.empty()) {
    return fail(ErrorCode::invalid_argument, "no_prompt", "the task has no description: say what to do");
  }
  if (auto ok = not_an_option("a model", launch.model); !ok) return ok;
  if (auto ok = not_an_option("a session id", launch.resume_session); !ok) return ok;
  if (!launch.mcp_servers_json.empty() && !launch.mcp_servers_json.starts_with('{')) {
    return fail(ErrorCode::invalid_argument, "bad_launch", "mcpServers must be an object");
  }
  return {};
}

std::string first_words(const Launch& launch) {
  std::string text = launch.prompt.empty() ? "Continue." : launch.prompt;
  if (!launch.context.empty()) text.append("\n\nContext:\n\n").append(launch.context);
  return text;
}

// The servers as the agent's own settings have them: it knows no `type`, and calls headers `http_headers`.
std::string server_settings(std::string_view json) {
  std::string_view inner = find_member(json, "mcpServers");
  std::string settings = "{";
  JsonMembers servers(inner.empty() ? json : inner);
  while (servers.next()) {
    settings.append(settings.size() > 1 ? ",\"" : "\"").append(servers.key()).append("\":{");
    JsonMembers members(servers.value());
    for (bool first = true; members.next();) {
      if (members.key() == "type") continue;
      settings.append(first ? "\"" : ",\"").append(members.key() == "headers" ? "http_headers" : members.key());
      settings.append("\":").append(members.value());
      first = false;
    }
    settings.push_back('}');
  }
  return settings + "}";
}

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out;
}

std::string remark_on(const Launch& launch, CodexFormat format) {
  std::vector<std::string> missing;
  if (!launch.allowed_tools.empty()) missing.emplace_back("a list of allowed tools");
  bool one_way = format == CodexFormat::exec;
  if (one_way && !launch.mcp_servers_json.empty()) missing.emplace_back("MCP servers in its one-way format");
  if (missing.empty()) return {};
  return "Codex does not take " + listed(missing) + "; it works without";
}

// Rules and prompt as one text, for the format that has no place of its own for rules.
std::string prompt_with_rules(const Launch& launch) {
  if (launch.rules.empty()) return first_words(launch);
  return "# Rules\n\n" + launch.rules + "\n\n# Task\n\n" + first_words(launch);
}

}  // namespace

std::string_view name(CodexFormat format) {
  return kFormatNames[static_cast<std::size_t>(format)];
}

std::optional<CodexFormat> codex_format(std::string_view name) {
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    if (kFormatNames[i] == name) return static_cast<CodexFormat>(i);
  }
  return std::nullopt;
}

std::vector<std::string> Codex::version_command(const std::string& program) const {
  return {program.empty() ? "codex" : program, "--version"};
}

std::vector<std::string> Codex::state_paths(const Variable& variable) const {
  if (std::string own = variable("CODEX_HOME"); !own.empty()) return {own};
  std::string home = variable("HOME");
  if (home.empty()) return {};
  return {home + "/.codex"};
}

// What thread/start and thread/resume have in common. An interactive agent asks before each command that is not known
// to be harmless; one that works alone never asks. Both write inside the work directory only.
std::string Codex::thread_params() const {
  return object_text([&](JsonObject& params) {
    params.text_unless_empty("threadId", launched_.resume_session);
    params.text_unless_empty("model", launched_.model);
    params.text("approvalPolicy", mode_ == AgentMode::autonomous ? "never" : "untrusted");
    params.text("sandbox", "workspace-write");
    if (!launched_.mcp_servers_json.empty()) {
      params.object("config", [&](JsonObject& config) {
        config.json("mcp_servers", server_settings(launched_.mcp_servers_json));
      });
    }
    if (!launched_.rules.empty()) params.text("developerInstructions", "# Rules\n\n" + launched_.rules);
    if (!launched_.resume_session.empty()) params.flag("excludeTurns", true);
  });
}

Result<LaunchPlan> Codex::launch(const Launch& launch) {
  if (auto ok = check_launch(launch); !ok) return fail(ok.error());
  launched_ = launch;
  auto asked = launch.options.find(kCodexFormatOption);
  format_ = asked == launch.options.end() ? CodexFormat::app_server
                                          : codex_format(asked->second).value_or(CodexFormat::app_server);
  mode_ = launch.mode;
  LaunchPlan plan;
  ProgramLaunch program;
  program.argv = launch.words("codex");
  plan.remark = remark_on(launch, format_);
  if (format_ == CodexFormat::app_server) {
    program.argv.emplace_back("app-server");
    plan.way = std::move(program);
    plan.keep_input_open = true;
    constexpr std::string_view kHello =
        R"({"clientInfo":{"name":"shepherd","title":"Shepherd","version":"1"},"capabilities":null})";
    std::uint64_t id = talk_.next_request++;
    plan.input = request_line(id, "initialize", kHello);
    talk_.requests.emplace(id, CodexRequest{});
    talk_.words.push_back({"prompt", "", first_words(launch)});
    return plan;
  }
  // The prompt is its standard input ("-"): it can be larger than an argument may be.
  std::vector<std::string> options{"--json", "--skip-git-repo-check", "-s", "workspace-write"};
  if (!launch.model.empty()) options.insert(options.end(), {"-m", launch.model});
  program.argv.emplace_back("exec");
  program.argv.insert(program.argv.end(), options.begin(), options.end());
  if (!launch.resume_session.empty()) program.argv.insert(program.argv.end(), {"resume", launch.resume_session});
  program.argv.emplace_back("-");
  plan.way = std::move(program);
  plan.input = prompt_with_rules(launch);
  return plan;
}

}  // namespace shepherd
