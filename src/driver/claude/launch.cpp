#include <algorithm>
#include <array>
#include <charconv>
#include <compare>

#include "driver/claude/claude_code.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};

// Since when the program has what we ask of it, by its own list of changes.
constexpr Version kHasStream{0, 2, 66};
constexpr Version kHasTwoWay{1, 0, 86};  // --replay-user-messages, which tells that a message was taken up
constexpr Version kHasPartialMessages{1, 0, 109};
constexpr Version kHasBudget{2, 0, 28};
constexpr Version kHasSubagentText{2, 1, 211};

// The first three numbers of "2.1.325 (Claude Code)"; nullopt when there are none.
std::optional<Version> version_of(std::string_view text) {
  std::array<int, 3> numbers{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto [after, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc()) return std::nullopt;
    at = after;
    if (i + 1 == numbers.size()) break;
    if (at == end || *at != '.') return std::nullopt;
    ++at;
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

constexpr std::array<std::string_view, 4> kFormats{"stream-json", "stream-json-one-way", "json", "text"};

// What a run can do without.
constexpr std::string_view kPartialMessages = "--include-partial-messages";
constexpr std::string_view kSubagentText = "--forward-subagent-text";
constexpr std::string_view kBudget = "--max-budget-usd";

// The heading also keeps rules that begin with a dash, as lists do, from reading as an option.
constexpr std::string_view kRulesHeading = "# Rules\n\n";

// Without an operator to ask, what is not allowed beforehand is refused: these are the tools for working alone.
constexpr std::string_view kWorkingAlone =
    "Bash,Read,Edit,Write,NotebookEdit,Glob,Grep,WebFetch,WebSearch,Task,Agent,Skill,TodoWrite";

std::string servers_argument(std::string_view json) {
  if (!find_member(json, "mcpServers").empty()) return std::string(json);
  return R"({"mcpServers":)" + std::string(json) + "}";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out.append(out.empty() ? "" : ",").append(text);
  return out;
}

// The tools of every configured server, for working alone.
std::string server_tools(std::string_view json) {
  std::string out;
  std::string_view inner = find_member(json, "mcpServers");
  JsonMembers servers(inner.empty() ? json : inner);
  while (servers.next()) out.append(",mcp__").append(servers.key());
  return out;
}

std::string_view option_of(const Launch& launch, std::string_view name) {
  auto found = launch.options.find(name);
  return found == launch.options.end() ? std::string_view() : std::string_view(found->second);
}

// Whether the program said that it does not know the option.
bool is_without(std::string_view without, std::string_view option) {
  while (!without.empty()) {
    std::size_t comma = std::min(without.find(','), without.size());
    if (without.substr(0, comma) == option) return true;
    without.remove_prefix(std::min(comma + 1, without.size()));
  }
  return false;
}

Result<void> check(const Launch& launch) {
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
  for (const auto& tool : launch.allowed_tools) {
    if (auto ok = not_an_option("a tool", tool); !ok) return ok;
  }
  if (!launch.mcp_servers_json.empty() && !launch.mcp_servers_json.starts_with('{')) {
    return fail(ErrorCode::invalid_argument, "bad_launch", "mcpServers must be an object");
  }
  return {};
}

std::string first_message(const Launch& launch) {
  std::string text = launch.prompt.empty() ? "Continue." : launch.prompt;
  if (!launch.context.empty()) text.append("\n\nContext:\n\n").append(launch.context);
  return text;
}

// The best that the installed program has, at most what was asked for.
OutputFormat format_for(const std::optional<Version>& version, OutputFormat asked) {
  OutputFormat best = !version || *version >= kHasTwoWay ? OutputFormat::bidirectional
                      : *version >= kHasStream           ? OutputFormat::stream
                                                         : OutputFormat::batch;
  return std::max(best, asked);
}

}  // namespace

std::string_view name(OutputFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}

std::optional<OutputFormat> output_format(std::string_view name) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == name) return static_cast<OutputFormat>(i);
  }
  return std::nullopt;
}

// With what the program knows, when it said that it does not know how it was started.
Verdict::Retry ClaudeCode::simpler_launch(std::string_view errors) const {
  Verdict::Retry retry{launched_.options, ""};
  std::string_view option = dispensable_option(errors);
  if (option.empty()) {
    OutputFormat simpler = static_cast<OutputFormat>(static_cast<int>(format_) + 1);
    retry.options.insert_or_assign(std::string(kOutputFormatOption), shepherd::name(simpler));
    retry.why = "The agent program does not know this way of talking; starting it again with output format " +
                std::string(shepherd::name(simpler));
    return retry;
  }
  // The format that was chosen stays.
  retry.options.insert_or_assign(std::string(kOutputFormatOption), shepherd::name(format_));
  std::string& without = retry.options[std::string(kWithoutOption)];
  without.append(without.empty() ? "" : ",").append(option);
  retry.why = "The agent program does not know " + std::string(option) + "; starting it again without";
  return retry;
}

std::string_view ClaudeCode::dispensable_option(std::string_view errors) const {
  for (std::string_view option : {kPartialMessages, kSubagentText, kBudget}) {
    bool tried = !is_without(option_of(launched_, kWithoutOption), option);
    if (tried && errors.find("unknown option '" + std::string(option) + "'") != std::string_view::npos) return option;
  }
  return {};
}

std::vector<std::string> ClaudeCode::state_paths(const Variable& variable) const {
  if (std::string own = variable("CLAUDE_CONFIG_DIR"); !own.empty()) return {own};
  std::string home = variable("HOME");
  if (home.empty()) return {};
  return {home + "/.claude"};  // it reads ~/.claude.json too, and goes on when it cannot write it
}

std::vector<std::string> ClaudeCode::version_command(const std::string& program) const {
  return {program.empty() ? "claude" : program, "--version"};
}

Result<LaunchPlan> ClaudeCode::launch(const Launch& launch) {
  if (auto ok = check(launch); !ok) return fail(ok.error());
  launched_ = launch;
  auto version = version_of(launch.version);
  auto has = [&](const Version& since, std::string_view option) {
    return (!version || *version >= since) && !is_without(option_of(launch, kWithoutOption), option);
  };
  OutputFormat asked = output_format(option_of(launch, kOutputFormatOption)).value_or(OutputFormat::bidirectional);
  format_ = format_for(version, asked);
  mode_ = launch.mode;
  bool steerable = format_ == OutputFormat::bidirectional;
  bool streams = steerable || format_ == OutputFormat::stream;
  bool alone = launch.mode == AgentMode::autonomous;

  LaunchPlan plan;
  if (format_ != asked) {
    plan.remark = "Version " + launch.version + " of the agent has no output format " +
                  std::string(shepherd::name(asked)) + "; it was started with " + std::string(shepherd::name(format_));
  }
  ProgramLaunch program;
  auto& argv = program.argv;
  argv = launch.words("claude");
  argv.emplace_back("-p");
  auto option = [&](std::string_view name, std::string value) {
    argv.emplace_back(name);
    argv.push_back(std::move(value));
  };
  if (steerable) option("--input-format", "stream-json");
  if (format_ != OutputFormat::text) option("--output-format", streams ? "stream-json" : "json");
  if (streams || format_ == OutputFormat::batch) argv.emplace_back("--verbose");
  if (steerable) {
    argv.emplace_back("--replay-user-messages");
    option("--permission-prompt-tool", "stdio");
  }
  if (streams && launch.deltas && has(kHasPartialMessages, kPartialMessages)) argv.emplace_back(kPartialMessages);
  if (streams && has(kHasSubagentText, kSubagentText)) argv.emplace_back(kSubagentText);
  if (alone) option("--permission-mode", "acceptEdits");
  if (!launch.allowed_tools.empty()) {
    option("--allowedTools", joined(launch.allowed_tools));
  } else if (alone && !steerable) {
    option("--allowedTools", std::string(kWorkingAlone) + server_tools(launch.mcp_servers_json));
  }
  if (!launch.model.empty()) option("--model", launch.model);
  if (launch.max_turns > 0) option("--max-turns", std::to_string(launch.max_turns));
  // Without it the runner stops the agent when the budget is used up.
  if (launch.budget_usd > 0 && has(kHasBudget, kBudget)) {
    std::string budget;
    append_number(budget, launch.budget_usd);
    option(kBudget, std::move(budget));
  }
  if (!launch.mcp_servers_json.empty()) {
    argv.emplace_back("--strict-mcp-config");
    option("--mcp-config", servers_argument(launch.mcp_servers_json));
  }
  if (!launch.rules.empty()) option("--append-system-prompt", std::string(kRulesHeading) + launch.rules);
  if (!launch.resume_session.empty()) option("--resume", launch.resume_session);

  program.environment = {{"DISABLE_AUTOUPDATER", "1"}};
  if (steerable) program.environment.push_back({"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"});
  plan.way = std::move(program);
  // A prompt can be larger than an argument may be, so it goes the other way.
  plan.input = first_message(launch);
  if (steerable) {
    std::string uuid = message_uuid(launch.id, "prompt");
    plan.input = user_line(plan.input, uuid, "");
    talk_.messages.emplace(std::move(uuid), ClaudeMessage{});
  }
  plan.keep_input_open = steerable;
  return plan;
}

}  // namespace shepherd
