// shepherd import: tasks and logs back from NDJSON.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "app/commands.h"
#include "app/line_input.h"
#include "app/task_import.h"
#include "base/limits.h"

namespace shepherd {
namespace {

struct Options {
  ServerOptions server;
  std::string from = "ndjson", file;
  bool json = false;
};

Result<ImportTotals> import_lines(ApiClient& client, LineInput& input, const std::string& name) {
  TaskImport import(client);
  std::size_t line_number = 0;
  auto at_line = [&](Error error) {
    error.message = fmt::format("{} line {}: {}", name, line_number, error.message);
    return fail(std::move(error));
  };
  while (true) {
    // One at a time, so that an error names its line; the import itself posts in batches.
    Result<std::vector<std::string>> lines = input.next(1, kMaxInputLineBytes);
    if (!lines) return fail(lines.error());
    if (lines->empty()) break;
    line_number = input.lines_read();
    if (Result<void> done = import.line(lines->front()); !done) return at_line(done.error());
  }
  if (Result<void> done = import.finish(); !done) return at_line(done.error());
  return import.totals();
}

Result<ExitCode> run(Context& context, const Options& options) {
  bool from_input = options.file.empty() || options.file == "-";
  if (from_input && isatty(STDIN_FILENO) == 1) {
    return fail(ErrorCode::invalid_argument, "no_file", "name a file, or give the export on standard input");
  }
  int descriptor = from_input ? STDIN_FILENO : open(options.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return fail(ErrorCode::not_found, "no_file", fmt::format("cannot open {}: {}", options.file, std::strerror(errno)));
  }
  LineInput input(descriptor);
  Result<ApiClient> client = connect_server(context, options.server);
  Result<ImportTotals> totals = client ? import_lines(*client, input, from_input ? "input" : options.file)
                                       : Result<ImportTotals>(fail(client.error()));
  if (!from_input) close(descriptor);
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

void add_import_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Recreate exported tasks; running it twice adds nothing");
  command->add_option("--from", options->from, "The input's format")
      ->check(CLI::IsMember({"ndjson"}))
      ->capture_default_str();
  command->add_option("FILE", options->file, "The export; - or nothing: standard input");
  command->add_flag("--json", options->json, "Print the totals as JSON");
  add_server_options(*command, options->server);
  add_internal_option(*command, options->server);
  command->footer("Examples:\n  shepherd import --from ndjson task.ndjson\n  zstdcat all.ndjson.zst | shepherd import");
  command->callback([options, &context] { context.action = [options, &context] { return run(context, *options); }; });
}

}  // namespace shepherd
