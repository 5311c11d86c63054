// shepherd agent test: is this agent what the protocol of streaming agents asks for?
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "app/commands.h"
#include "app/config_flags.h"
#include "app/whole_file.h"
#include "harness/harness.h"

namespace shepherd {
namespace {

struct Options {
  ConfigFlags flags;
  std::string stream, junit, ca_file, token;
  bool json = false, tls = false;
  double timeout_seconds = static_cast<double>(kAgentAnswer.count()) / 1000;
};

std::string verdict_mark(const Output& out, harness::Verdict verdict) {
  switch (verdict) {
    case harness::Verdict::passed:
      return out.paint(Color::green, "pass");
    case harness::Verdict::failed:
      return out.paint(Color::red, "FAIL");
    case harness::Verdict::not_shown:
      return out.paint(Color::yellow, "warn");
    case harness::Verdict::skipped:
      break;
  }
  return out.paint(Color::dim, "skip");
}

void print(Output& out, const harness::Report& report) {
  for (const harness::CheckResult& check : report.checks()) {
    out.line(fmt::format("{}  {:<18} {}", verdict_mark(out, check.verdict), check.id, check.title));
    for (const harness::Defect& defect : check.defects) {
      out.line(fmt::format("      {:<18} {}", "", out.paint(Color::red, defect.code + ": " + defect.detail)));
    }
    if (check.verdict == harness::Verdict::not_shown)
      out.line(fmt::format("      {:<18} not shown: {}", "", check.note));
    if (check.verdict == harness::Verdict::skipped) out.line(fmt::format("      {:<18} skipped: {}", "", check.note));
  }
  out.line(fmt::format("\n{} passed, {} failed, {} not shown, {} skipped; {:.1f} s",
                       report.count(harness::Verdict::passed), report.count(harness::Verdict::failed),
                       report.count(harness::Verdict::not_shown), report.count(harness::Verdict::skipped),
                       static_cast<double>(report.duration_ms) / 1000));
}

Result<std::string> text_of(const std::string& path) {
  auto text = read_whole_file(path, kMaxSettingsBytes);
  if (!text) return fail(text.error());
  if (!*text) return fail(ErrorCode::invalid_argument, "unreadable_file", fmt::format("there is no {}", path));
  return **std::move(text);
}

// A name of the configuration's `agents`: where that agent is and how it lets us in.
Result<void> look_up(const Context& context, Options& options) {
  auto inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  auto loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  const auto& agents = loaded->config.agents;
  auto found = agents.find(options.stream);
  if (found == agents.end()) {
    std::string known;
    for (const auto& [name, agent] : agents) known += (known.empty() ? "it has " : ", ") + name;
    return fail(ErrorCode::invalid_argument, "unknown_agent",
                fmt::format("\"{}\" is neither HOST:PORT nor a name under `agents:` of the configuration ({})",
                            options.stream, known.empty() ? "which has none" : known));
  }
  const RemoteAgent& agent = found->second;
  options.stream = agent.address;
  options.tls = options.tls || agent.tls;
  if (options.ca_file.empty()) options.ca_file = agent.ca_file;
  if (!options.token.empty() || agent.token_file.empty()) return {};
  auto token = text_of(agent.token_file);
  if (!token) return fail(token.error());
  options.token = token->substr(0, token->find_first_of("\r\n"));
  return {};
}

Result<ExitCode> test(Context& context, Options options) {
  harness::HarnessOptions asked;
  asked.command = context.after_dashes;
  if (options.stream.empty() && asked.command.empty()) {
    return fail(ErrorCode::invalid_argument, "no_agent",
                "which agent? give --stream HOST:PORT of one that runs, or a command: "
                "shepherd agent test -- ./my-agent {address}");
  }
  if (!options.stream.empty() && options.stream.find(':') == std::string::npos) {
    if (auto found = look_up(context, options); !found) return fail(found.error());
  }
  asked.target = {.address = options.stream, .tls = options.tls || !options.ca_file.empty(), .token = options.token};
  if (!options.ca_file.empty()) {
    auto pem = text_of(options.ca_file);
    if (!pem) return fail(pem.error());
    asked.target.ca_pem = *std::move(pem);
  }
  asked.answer = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_seconds * 1000));
  asked.run = std::min(kAgentRun, asked.answer * 6);
  asked.progress = [&context](const std::string& what) { context.err.status("trying: " + what); };
  auto report = harness::test_agent(asked);
  context.err.status("");
  if (!report) return fail(report.error());

  if (!options.junit.empty()) {
    constexpr mode_t kReadableByAll = 0644;
    if (auto written = replace_file(options.junit, harness::to_junit(*report), kReadableByAll); !written) {
      return fail(written.error());
    }
  }
  if (options.json) {
    context.out.json_line(harness::to_json(*report));
  } else {
    print(context.out, *report);
  }
  return report->failed() ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_agent_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* agent = app.add_subcommand("agent", "Write and check agents that speak the streaming protocol");
  agent->require_subcommand(1);
  agent->footer("Example:\n  shepherd agent test --stream 127.0.0.1:50051\n");
  CLI::App* command = agent->add_subcommand("test", "Check a streaming agent against the protocol (gRPC)");
  options->flags.add_to(*command);
  command->add_option("--stream", options->stream,
                      "HOST:PORT or unix:PATH where the agent listens (or will, with a command), or its name under\n"
                      "`agents:` of the configuration");
  command->add_option("--timeout", options->timeout_seconds, "Seconds an agent has to react")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  command->add_option("--junit", options->junit, "Also write the report as JUnit XML to this file");
  command->add_flag("--json", options->json, "Print the report as one JSON object");
  command->add_flag("--tls", options->tls, "Connect with TLS");
  command->add_option("--ca-file", options->ca_file, "Authorities to trust (PEM); implies --tls");
  command->add_option("--token", options->token, "Sent as authorization: Bearer TOKEN");
  command->footer(
      "Behind --: a command that starts the agent. {address} in it becomes the address to listen on, which is also in\n"
      "SHEPHERD_AGENT_ADDRESS. Only with a command can the agent's shutdown be checked.\n\n"
      "pass: shown and right. warn: not shown, but nothing demands it. FAIL: breaks the protocol; the exit code is "
      "1.\n\n"
      "Examples:\n"
      "  shepherd agent test --stream 127.0.0.1:50051\n"
      "  shepherd agent test --junit report.xml -- ./my-agent {address}");
  command->callback([options, &context] { context.action = [options, &context] { return test(context, *options); }; });
}

}  // namespace shepherd
