// shepherd search: finds events of all tasks by their text.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "api/limits.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/verbs.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"
#include "terminal/text_table.h"

namespace shepherd {
namespace {

struct SearchOptions {
  ServerOptions server;
  std::vector<std::string> query;
  std::size_t limit = kSearchResults;
  bool json = false;
};

Result<ExitCode> search(Context& context, const SearchOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  std::string query = fmt::format("{}", fmt::join(options.query, " "));
  Result<SearchAnswer> answer = client->search(query, {{"limit", std::to_string(options.limit)}});
  if (!answer) return fail(answer.error());
  if (options.json) {
    context.out.json_line(answer->json);
    return ExitCode::ok;
  }
  std::int64_t now_ms = SystemClock().wall_ms();
  TextTable table({{"TASK"}, {"EVENT", true}, {"AGE", true}, {"TYPE"}, {"TEXT"}});
  for (const SearchHit& hit : answer->hits) {
    auto safe = [](const std::string& text) { return terminal_text(text, Lines::join); };
    Result<std::int64_t> when = parse_timestamp(hit.timestamp);
    table.add({{safe(hit.task), Color::bold},
               {std::to_string(hit.sequence)},
               {when ? age_text(now_ms - *when) : ""},
               {safe(hit.type), Color::cyan},
               {safe(hit.snippet.empty() ? hit.summary : hit.snippet)}});
  }
  if (table.empty()) {
    context.err.line("Nothing found. New events become searchable a moment after they arrive.");
  } else {
    table.print(context.out);
  }
  return ExitCode::ok;
}

}  // namespace

void add_search_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* command = app.add_subcommand("search", "Search the events of all tasks");
  command->add_option("QUERY", options->query, "Words (all must match), \"a phrase\", prefix*, OR, -without")
      ->required();
  command->add_option("--limit", options->limit, "Maximum number of results, newest first")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, kMaxSearchResults));
  command->add_flag("--json", options->json, "The server's answer as JSON");
  add_server_options(*command, options->server);
  command->footer(
      "Examples:\n  shepherd search timeout auth\n  shepherd search '\"connection refused\"'\n"
      "  shepherd search -- panic -test      # after --, a leading - excludes a word");
  command->callback(
      [options, &context] { context.action = [options, &context] { return search(context, *options); }; });
}

}  // namespace shepherd
