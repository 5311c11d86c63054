#include "cli/verb_inbox.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/approval_view.h"
#include "cli/cost_text.h"
#include "cli/limits.h"
#include "cli/run_request.h"
#include "cli/task_names.h"
#include "cli/top_layout.h"
#include "client/api_get.h"
#include "json/scan.h"
#include "json/tree.h"
#include "model/usage_json.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct InboxOptions {
  ServerOptions server;
  std::string dismissed;  // a task; empty: list
  std::size_t limit = 20;
  bool json = false;
};

std::string exact_member(const json::object& object, std::string_view key) {
  return exact_text(text_member(object, key), Lines::join);
}

Color color_of(const std::string& kind) {
  if (kind == "approval" || kind == "question") return Color::yellow;
  if (kind == "failed") return Color::red;
  return kind == "stalled" ? Color::magenta : Color::cyan;
}

// Long enough a part of an approval's id to be unique, so that the typed command cannot approve a later request. The
// agent chose the id, and people copy it into a shell, so it is quoted.
std::string approval_of(const json::object& item) {
  constexpr std::size_t kEnough = 16;
  const json::value* approval = item.if_contains("approval");
  if (approval == nullptr || !approval->is_object()) return {};
  return shell_word(exact_member(approval->get_object(), "approvalID").substr(0, kEnough));
}

// The command that a person types to deal with the item.
std::string way_out(const json::object& item) {
  std::string task = exact_member(item, "taskID");
  std::string kind = exact_member(item, "kind");
  if (kind == "approval") return fmt::format("shepherd approve {} {}", task, approval_of(item));
  if (kind == "question") return fmt::format("shepherd answer {} {} \"…\"", task, approval_of(item));
  if (kind == "waiting") return fmt::format("shepherd steer {} \"…\"", task);
  return fmt::format("shepherd inbox --dismiss {}", task);
}

constexpr std::string_view kIndent = "    ";

// An approval's input, cut to fit a list; empty if the item is not an approval or has no input.
std::vector<std::string> asked(ApiClient& client, const json::object& item, std::size_t columns) {
  const json::value* sequence = item.if_contains("sequence");
  if (!item.contains("approval") || sequence == nullptr || !sequence->is_int64()) return {};
  std::string task(item.at("taskID").as_string());
  Result<AskedInput> input = asked_input(client, task, static_cast<std::uint64_t>(sequence->get_int64()));
  if (!input) return {fmt::format("(what it asks cannot be read: {})", exact_text(input.error().message, Lines::join))};
  std::vector<std::string> lines = asked_lines(*input, columns);
  if (lines.size() <= kInboxInputLines) return lines;
  std::size_t more = lines.size() - kInboxInputLines;
  lines.resize(kInboxInputLines);
  lines.push_back(fmt::format("… {} more lines: shepherd tasks show {}", more, exact_text(task, Lines::join)));
  if (std::string notice = redaction_notice(input->json); !notice.empty()) lines.push_back("(" + notice + ")");
  return lines;
}

// The task's usage so far; empty if unknown. The list does not contain it.
std::string used(ApiClient& client, const json::object& item) {
  const json::value* id = item.if_contains("taskID");
  if (id == nullptr || !id->is_string()) return {};
  Result<TaskView> task = client.task(id->get_string());
  std::uint64_t tokens = task ? total_tokens(find_member(task->json, "usage")) : 0;
  if (tokens == 0) return {};
  std::string cost = cost_text(task->cost_usd, task->unpriced);
  return fmt::format("  {} tokens{}{}", count_text(tokens), cost.empty() ? "" : ", ", cost);
}

// Prints the title, then the reason, and finally the command to type on its own line.
void print_item(Output& out, ApiClient& client, const json::object& item, std::int64_t now_ms) {
  std::string kind = exact_member(item, "kind");
  Result<std::int64_t> since = parse_timestamp(exact_member(item, "since"));
  std::string title = exact_member(item, "title");
  std::size_t width = out.is_terminal() ? out.columns() : 0;
  std::string head = fmt::format("{:<9} {:>7}  ", kind, since ? age_text(now_ms - *since) : "");
  if (title.empty()) title = exact_member(item, "taskID");
  std::string use = used(client, item);
  std::size_t taken = columns_of(head) + columns_of(use);
  if (width > 0 && taken + kInboxTitleColumns > width) {
    use.clear();
    taken = columns_of(head);
  }
  if (width > 0) title = cut_to_columns(title, width > taken ? width - taken : 0);
  out.line(out.paint(color_of(kind), head) + out.paint(Color::bold, title) + out.paint(Color::dim, use));
  std::size_t room = width > 2 * kIndent.size() ? width - kIndent.size() : 0;
  std::vector<std::string> lines = asked(client, item, room);
  if (kind != "question") {
    std::vector<std::string> summary = wrapped_lines(exact_member(item, "summary"), room);
    if (!summary.front().empty()) lines.insert(lines.begin(), summary.begin(), summary.end());
  }
  for (const std::string& line : lines) out.line(std::string(kIndent) + line);
  out.line(std::string(kIndent) + out.paint(Color::cyan, way_out(item)));
}

Result<ExitCode> dismiss(Context& context, const InboxOptions& options, const Destination& destination) {
  Result<ApiClient> client = ApiClient::create(destination, options.server.tls());
  if (!client) return fail(client.error());
  Result<TaskView> task = find_task(*client, options.dismissed);
  if (!task) return fail(task.error());
  Result<std::string> answer = api_post(destination, options.server.tls(), "/api/v1/inbox/dismiss",
                                        json::serialize(json::object{{"taskID", task->id}}));
  if (!answer) return fail(answer.error());
  if (options.json) {
    context.out.json_line(*answer);
  } else {
    context.err.line(fmt::format("{} is dismissed until something new happens to it.", task->id));
  }
  return ExitCode::ok;
}

Result<ExitCode> inbox(Context& context, const InboxOptions& options) {
  Result<Destination> destination = locate_server(context, options.server);
  if (!destination) return fail(destination.error());
  if (!options.dismissed.empty()) return dismiss(context, options, *destination);
  Result<std::string> answer =
      api_get(*destination, options.server.tls(), "/api/v1/inbox?limit=" + std::to_string(options.limit));
  if (!answer) return fail(answer.error());
  if (options.json) {
    context.out.json_line(*answer);
    return ExitCode::ok;
  }
  boost::system::error_code error;
  json::value value = json::parse(*answer, error);
  const json::value* items = !error && value.is_object() ? value.get_object().if_contains("items") : nullptr;
  if (items == nullptr || !items->is_array()) {
    return fail(ErrorCode::internal, "bad_response", "the server's answer is not an inbox; is it an older server?");
  }
  std::int64_t now_ms = SystemClock().wall_ms();
  if (items->get_array().empty()) {
    context.err.line("Nothing needs you.");
    return ExitCode::ok;
  }
  Result<ApiClient> client = ApiClient::create(*destination, options.server.tls());
  if (!client) return fail(client.error());
  bool first = true;
  for (const json::value& item : items->get_array()) {
    if (!item.is_object()) continue;
    if (!std::exchange(first, false)) context.out.line("");
    print_item(context.out, *client, item.get_object(), now_ms);
  }
  const json::value* total = value.get_object().if_contains("total");
  std::int64_t more = (total != nullptr && total->is_int64() ? total->get_int64() : 0) -
                      static_cast<std::int64_t>(items->get_array().size());
  if (more > 0) context.err.line(fmt::format("… and {} more; --limit shows them", more));
  return ExitCode::ok;
}

}  // namespace

void add_inbox_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<InboxOptions>();
  CLI::App* command =
      app.add_subcommand("inbox", "What needs you now: approvals, questions, agents that wait or failed");
  command->add_option("--limit", options->limit, "Maximum number of items, most urgent first")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  command->add_flag("--json", options->json, "The server's answer as JSON");
  command->add_option("--dismiss", options->dismissed, "Remove this stalled or failed task from the list")
      ->type_name("TASK");
  add_server_options(*command, options->server);
  command->footer(
      "The most urgent first:\n"
      "  approval  the agent wants to do something and waits for your yes or no\n"
      "  question  it asks you a question\n"
      "  waiting   it has finished its turn and waits for instructions\n"
      "  stalled   it should be working, but has reported nothing for inbox.stalled_seconds (300)\n"
      "  failed    it ended badly within the last day\n"
      "The last line of each item is the command to type. Stalled and failed items go when the agent\n"
      "reports again or after a day; --dismiss removes them at once, until something new happens to them.\n\n"
      "Examples:\n  shepherd inbox\n  shepherd inbox --dismiss fix-login\n"
      "  shepherd inbox --json | jq -r '.items[].taskID'");
  command->callback([options, &context] { context.action = [options, &context] { return inbox(context, *options); }; });
}

}  // namespace shepherd
