#include "app/command_inbox.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <memory>
#include <string>

#include "app/span_text.h"
#include "app/terminal_text.h"
#include "app/text_table.h"
#include "base/clock.h"
#include "client/api_get.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct Options {
  ServerOptions server;
  std::string dismissed;  // a task; empty: list
  std::size_t limit = 20;
  bool json = false;
};

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? terminal_text(value->get_string(), Lines::join) : std::string();
}

Color color_of(const std::string& kind) {
  if (kind == "approval" || kind == "question") return Color::yellow;
  if (kind == "failed") return Color::red;
  return kind == "stalled" ? Color::magenta : Color::cyan;
}

// Enough of an approval's id to mean this one: a later one must not be allowed by what was typed for it.
std::string approval_of(const json::object& item) {
  constexpr std::size_t kEnough = 16;
  const json::value* approval = item.if_contains("approval");
  return approval == nullptr || !approval->is_object()
             ? std::string()
             : text_of(approval->get_object(), "approvalID").substr(0, kEnough);
}

// What a person types to deal with it.
std::string way_out(const json::object& item) {
  std::string task = text_of(item, "taskID");
  std::string kind = text_of(item, "kind");
  if (kind == "approval") return fmt::format("shepherd approve {} {}", task, approval_of(item));
  if (kind == "question") return fmt::format("shepherd answer {} {} \"…\"", task, approval_of(item));
  if (kind == "waiting") return fmt::format("shepherd steer {} \"…\"", task);
  return fmt::format("shepherd inbox --dismiss {}", task);
}

// "By month | By customer" for each question an agent asks; empty when the input is of another shape.
std::string choices_of(const json::object& input) {
  const json::value* questions = input.if_contains("questions");
  if (questions == nullptr || !questions->is_array()) return {};
  std::string text;
  for (const json::value& question : questions->get_array()) {
    const json::value* options = question.is_object() ? question.get_object().if_contains("options") : nullptr;
    if (options == nullptr || !options->is_array()) return {};
    if (questions->get_array().size() > 1) text += " " + text_of(question.get_object(), "question");
    std::string_view before = " ";
    for (const json::value& option : options->get_array()) {
      if (!option.is_object()) return {};
      text.append(before).append(text_of(option.get_object(), "label"));
      before = " | ";
    }
  }
  return text;
}

// What it is about; of an approval exactly what is asked.
std::string about(const json::object& item) {
  std::string text = text_of(item, "summary");
  if (std::string title = text_of(item, "title"); !title.empty()) text = title + ": " + text;
  const json::value* approval = item.if_contains("approval");
  if (approval == nullptr || !approval->is_object()) return text;
  const json::value* input = approval->get_object().if_contains("input");
  if (input == nullptr || !input->is_object() || input->get_object().empty()) return text;
  std::string choices = choices_of(input->get_object());
  return text + (choices.empty() ? " " + terminal_text(json::serialize(*input), Lines::join) : choices);
}

void add_row(TextTable& table, const json::object& item, std::int64_t now_ms) {
  std::string kind = text_of(item, "kind");
  Result<std::int64_t> since = parse_timestamp(text_of(item, "since"));
  table.add({{kind, color_of(kind)},
             {text_of(item, "taskID"), Color::bold},
             {since ? age_text(now_ms - *since) : ""},
             {way_out(item)},
             {about(item)}});
}

Result<ExitCode> dismiss(Context& context, const Options& options, const Destination& destination) {
  Result<std::string> answer = api_post(destination, options.server.tls(), "/api/v1/inbox/dismiss",
                                        json::serialize(json::object{{"taskID", options.dismissed}}));
  if (!answer) return fail(answer.error());
  if (options.json) {
    context.out.json_line(*answer);
  } else {
    context.err.line(fmt::format("{} is dismissed until something new happens to it.", options.dismissed));
  }
  return ExitCode::ok;
}

Result<ExitCode> inbox(Context& context, const Options& options) {
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
  TextTable table({{"NEEDS"}, {"TASK"}, {"SINCE", true}, {"DO"}, {"WHAT"}});
  std::int64_t now_ms = SystemClock().wall_ms();
  for (const json::value& item : items->get_array()) {
    if (item.is_object()) add_row(table, item.get_object(), now_ms);
  }
  if (table.empty()) {
    context.err.line("Nobody needs you.");
    return ExitCode::ok;
  }
  table.print(context.out);
  const json::value* total = value.get_object().if_contains("total");
  std::int64_t more = (total != nullptr && total->is_int64() ? total->get_int64() : 0) -
                      static_cast<std::int64_t>(items->get_array().size());
  if (more > 0) context.err.line(fmt::format("… and {} more; --limit shows them", more));
  return ExitCode::ok;
}

}  // namespace

void add_inbox_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("inbox", "What needs you now: approvals, questions, agents that wait or failed");
  command->add_option("--limit", options->limit, "At most this many, the most urgent first")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  command->add_flag("--json", options->json, "The server's answer as JSON");
  command->add_option("--dismiss", options->dismissed, "Take this stalled or failed task off the list")
      ->type_name("TASK");
  add_server_options(*command, options->server);
  command->footer(
      "The most urgent first:\n"
      "  approval  the agent asks leave for something and waits for your yes or no\n"
      "  question  it asks you something\n"
      "  waiting   it is done with its turn and waits for what to do next\n"
      "  stalled   it says that it works, but nothing has come from it for inbox.stalled_seconds (300)\n"
      "  failed    it ended badly within the last day\n"
      "The column DO is what to type. Stalled and failed tasks go by themselves when the agent speaks again or after "
      "a\n"
      "day; --dismiss takes them off at once, until something new happens to them. Look into one with shepherd "
      "watch.\n\n"
      "Examples:\n  shepherd inbox\n  shepherd inbox --dismiss fix-login\n"
      "  shepherd inbox --json | jq -r '.items[].taskID'");
  command->callback([options, &context] { context.action = [options, &context] { return inbox(context, *options); }; });
}

}  // namespace shepherd
