// shepherd import: restores tasks and logs from NDJSON, and imports the sessions that Claude Code and Codex keep.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/limits.h"
#include "cli/task_import.h"
#include "cli/transcript_import.h"
#include "cli/verbs.h"
#include "driver/claude/transcript.h"
#include "driver/codex/rollout.h"
#include "hooks/rollout_files.h"
#include "hooks/transcript_files.h"
#include "json/write.h"
#include "terminal/byte_input.h"
#include "terminal/limits.h"
#include "terminal/line_input.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

struct ImportOptions {
  ServerOptions server;
  std::string from = "ndjson", file;
  bool json = false, all = false;
};

Result<ImportTotals> import_lines(ApiClient& client, LineInput& input, const std::string& name) {
  TaskImport import(client);
  std::size_t line_number = 0;
  auto at_line = [&](Error error) {
    error.message = fmt::format("{} line {}: {}", name, line_number, error.message);
    return fail(std::move(error));
  };
  while (true) {
    // Reads one line at a time, so that an error can name its line; the import itself posts in batches.
    Result<std::vector<std::string>> lines = input.next(1, kMaxInputLineBytes);
    if (!lines) return fail(lines.error());
    if (lines->empty()) break;
    line_number = input.lines_read();
    if (Result<void> done = import.line(lines->front()); !done) return at_line(done.error());
  }
  if (Result<void> done = import.finish(); !done) return at_line(done.error());
  return import.totals();
}

Result<std::vector<std::string>> chosen_transcripts(Context& context, const ImportOptions& options) {
  bool codex = options.from == "codex";
  Result<std::string> directory =
      codex ? rollouts_directory(context.environment) : transcripts_directory(context.environment);
  if (options.all) {
    if (!directory) return fail(directory.error());
    const std::string& place = options.file.empty() ? *directory : options.file;
    return codex ? all_rollouts(place) : all_transcripts(place);
  }
  if (options.file.empty()) {
    return fail(ErrorCode::invalid_argument, "no_file", "name a transcript file or a session id, or take them --all");
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(options.file, error)) return std::vector{options.file};
  if (!directory) return fail(directory.error());
  Result<std::string> path =
      codex ? rollout_of_session(*directory, options.file) : transcript_of_session(*directory, options.file);
  if (!path) return fail(path.error());
  return std::vector{*std::move(path)};
}

Result<TranscriptImport::Done> import_transcript(TranscriptImport& import, const std::string& from,
                                                 const std::string& path) {
  Result<std::vector<TranscriptFile>> files = read_transcript_files(path);
  if (!files) return fail(files.error());
  std::error_code error;
  auto written = std::filesystem::last_write_time(path, error);
  bool ended = error || std::filesystem::file_time_type::clock::now() - written > kImportQuiet;
  return import.session(from == "codex" ? read_codex_rollout(files->front().lines) : read_claude_transcript(*files),
                        ended);
}

std::string told(const TranscriptImport::Done& done) {
  switch (done.outcome) {
    case TranscriptImport::Outcome::imported:
      return fmt::format("{} events added", done.added);
    case TranscriptImport::Outcome::unchanged:
      return "already there";
    case TranscriptImport::Outcome::totals:
      return done.added > 0 ? "was watched live; its totals added" : "was watched live; nothing to add";
    case TranscriptImport::Outcome::empty:
      break;
  }
  return "nothing happened in it";
}

void tell(Context& context, const ImportOptions& options, const std::string& path, const TranscriptImport::Done& done) {
  if (!options.json) {
    std::string name = done.task.empty() ? path : done.task;
    return context.out.line(fmt::format("{}  {}", terminal_text(name, Lines::join), told(done)));
  }
  constexpr std::string_view kOutcomes[] = {"imported", "unchanged", "totals", "empty"};
  std::string line = object_text([&](JsonObject& object) {
    object.text("file", path);
    object.text("task", done.task);
    object.text("outcome", kOutcomes[static_cast<std::size_t>(done.outcome)]);
    object.number("added", done.added);
  });
  context.out.json_line(line);
}

// An unreadable transcript does not stop the import of the others.
Result<ExitCode> run_transcripts(Context& context, const ImportOptions& options) {
  Result<std::vector<std::string>> paths = chosen_transcripts(context, options);
  if (!paths) return fail(paths.error());
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  TranscriptImport import(*client);
  bool all_good = true;
  for (const std::string& path : *paths) {
    Result<TranscriptImport::Done> done = import_transcript(import, options.from, path);
    if (!done && (paths->size() == 1 || done.error().code == ErrorCode::unavailable)) return fail(done.error());
    if (!done) context.complain(fmt::format("{}: {}", path, done.error().message));
    all_good = all_good && done.has_value();
    if (done) tell(context, options, path, *done);
  }
  if (paths->empty()) context.err.line("There are no transcripts.");
  return all_good ? ExitCode::ok : ExitCode::failed;
}

Result<ExitCode> run(Context& context, const ImportOptions& options) {
  if (options.from != "ndjson") return run_transcripts(context, options);
  if (options.all) {
    return fail(ErrorCode::invalid_argument, "bad_flag", "--all goes with --from claude and --from codex");
  }
  bool from_input = options.file.empty() || options.file == "-";
  if (from_input && isatty(STDIN_FILENO) == 1) {
    return fail(ErrorCode::invalid_argument, "no_file", "name a file, or give the export on standard input");
  }
  Result<ByteInput> file = ByteInput::open(options.file);
  if (!file) return fail(file.error());
  LineInput input(file->descriptor());
  Result<ApiClient> client = connect_server(context, options.server);
  Result<ImportTotals> totals = client ? import_lines(*client, input, from_input ? "input" : options.file)
                                       : Result<ImportTotals>(fail(client.error()));
  if (!totals) return fail(totals.error());
  if (options.json) {
    context.out.json_line(
        fmt::format(R"({{"tasks":{},"events":{},"added":{}}})", totals->tasks, totals->events, totals->added));
  } else {
    context.out.line(fmt::format("{} task{}, {} events: {} added, {} already there.", totals->tasks,
                                 totals->tasks == 1 ? "" : "s", totals->events, totals->added,
                                 totals->events - std::min(totals->added, totals->events)));
  }
  return ExitCode::ok;
}

}  // namespace

void add_import_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand(
      "import",
      "Recreate exported tasks, or the sessions that Claude Code or Codex kept; running it twice adds nothing");
  command->add_option("--from", options->from, "Input format")
      ->check(CLI::IsMember({"ndjson", "claude", "codex"}))
      ->capture_default_str();
  command->add_option("FILE", options->file, "The export (- or nothing: standard input); a transcript or session id");
  command->add_flag("--all", options->all, "Every session that the agent has kept on this machine");
  command->add_flag("--json", options->json, "Print the totals as JSON");
  add_server_options(*command, options->server);
  add_internal_option(*command, options->server);
  command->footer(
      "Imported tasks are records: they have no agent, no runner and no callback, but a label \"imported\" with the "
      "name\n"
      "of the agent. A task that had not ended is closed as cancelled, with its open approvals. Events keep their own\n"
      "times; the times of creation and receipt are those of the import. A log whose beginning retention had removed "
      "is\n"
      "numbered from 1 again.\n\n"
      "Sessions become tasks named AGENT-SESSION that you can search and replay. For a session that was watched "
      "live,\n"
      "only the totals are added.\n\n"
      "Examples:\n  shepherd import --from ndjson task.ndjson\n  zstdcat all.ndjson.zst | shepherd import\n"
      "  shepherd import --from claude --all\n  shepherd import --from claude 3edac694-928b-4d67-9312-ef911a530de8\n"
      "  shepherd import --from codex --all");
  command->callback([options, &context] { context.action = [options, &context] { return run(context, *options); }; });
}

}  // namespace shepherd
