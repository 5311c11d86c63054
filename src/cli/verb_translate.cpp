// shepherd translate: reads an agent's own stream and prints the events that the runner would post.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cli/verbs.h"
#include "driver/claude/launch_options.h"
#include "driver/event_json.h"
#include "driver/line_splitter.h"
#include "driver/registry/recording_player.h"
#include "json/write.h"
#include "terminal/byte_input.h"

namespace shepherd {
namespace {

struct TranslateOptions {
  std::string agent, file, format;
  bool detail = false, status = false;
};

void print(Context& context, const TranslateOptions& options, Actions& output) {
  for (const DriverEvent& event : output.events()) {
    std::string line;
    append_posted(line, options.detail ? event : as_kept(event), 0, options.detail);
    context.out.json_line(line);
  }
  output.clear();
}

std::string status_event(const Verdict& verdict) {
  return object_text([&](JsonObject& event) {
    event.text("type", "status");
    event.text("summary", verdict.message.empty() ? name(verdict.state) : std::string_view(verdict.message));
    write_object(event.member("data"), [&](JsonObject& data) { data.text("state", name(verdict.state)); });
  });
}

Result<ExitCode> translate(Context& context, const TranslateOptions& options) {
  auto input = ByteInput::open(options.file);
  if (!input) return fail(input.error());
  Launch launch;
  launch.id = "translate";
  launch.prompt = "recorded";
  launch.command = {"recorded"};
  launch.options.emplace(kOutputFormatOption, options.format);
  Result<RecordingPlayer> player = RecordingPlayer::open(options.agent, launch);
  if (!player) return fail(player.error());

  SystemClock clock;
  Actions output;
  LineSplitter splitter;
  Result<void> played;
  auto line = [&](const Line& whole) {
    if (played) played = player->line(whole.text, clock.wall_ms(), output);
  };
  for (;;) {
    auto bytes = input->next();
    if (!bytes) return fail(bytes.error());
    if (bytes->empty()) break;
    splitter.add(*bytes, line);
    if (!played) return fail(played.error());
    print(context, options, output);
    context.out.flush();
    if (context.out.closed()) return ExitCode::ok;
  }
  splitter.finish(line);
  if (!played) return fail(played.error());
  Result<Verdict> verdict = player->finish(clock.wall_ms(), output);
  if (!verdict) return fail(verdict.error());
  print(context, options, output);
  if (options.status) context.out.json_line(status_event(*verdict));
  return ExitCode::ok;
}

}  // namespace

void add_translate_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<TranslateOptions>();
  options->format = name(OutputFormat::stream);
  CLI::App* command = app.add_subcommand("translate", "Turn an agent's own output into events, as NDJSON");
  command->add_option(
      "FILE", options->file,
      "What the agent printed, as it is or as a recording with its directions (default: standard input)");
  command
      ->add_option("--agent", options->agent,
                   "Which agent printed it: claude, codex, gemini, opencode, acp or another name of shepherd agents; "
                   "its form is found out (grpc: messages as JSON, one per line; text: any lines)")
      ->required();
  command->add_option("--format", options->format, "The output format that the agent was asked for")
      ->check(CLI::IsMember({"stream-json", "stream-json-one-way", "json", "text", "app-server", "exec-json"}))
      ->capture_default_str();
  command->add_flag("--detail", options->detail, "Full content, with the agent's own record of each event");
  command->add_flag("--status", options->status, "End with a status event that says how the run ended");
  command->footer(
      "What it does not understand becomes a log event; nothing is dropped. A recording gives the turns and the\n"
      "decisions that were said to the agent, with the times it has, counted from now.\n\nExamples:\n"
      "  shepherd translate --agent claude session.jsonl\n"
      "  shepherd translate --agent gemini recording.jsonl\n"
      "  claude -p \"fix it\" --output-format stream-json --verbose | shepherd translate --agent claude --status |\n"
      "    shepherd post TASK");
  command->callback(
      [options, &context] { context.action = [options, &context] { return translate(context, *options); }; });
}

}  // namespace shepherd
