#include "cli/approval_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/answer_words.h"
#include "cli/limits.h"
#include "json/scan.h"
#include "terminal/terminal_text.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

constexpr std::string_view kValueMark = "| ";
constexpr std::string_view kBreakMark = "  ";
constexpr std::string_view kMarkWord = "redacted";  // as in [redacted:password:8]

void add_wrapped(std::vector<std::string>& lines, std::string_view mark, std::string_view text, std::size_t columns) {
  std::size_t room = columns > 20 ? columns - kBreakMark.size() - mark.size() : columns;
  bool first = true;
  for (const std::string& line : wrapped_lines(text, room)) {
    lines.push_back(std::string(mark).append(first ? "" : kBreakMark).append(line));
    first = false;
  }
}

void add_member(std::vector<std::string>& lines, std::string_view key, std::string_view value, std::size_t columns) {
  std::string name = exact_text(unescape(key).value_or(std::string(key)), Lines::join);
  std::optional<std::string> text = string_value(value);
  std::string shown = text ? exact_text(*text, Lines::keep) : terminal_json(value);
  if (shown.find('\n') == std::string::npos) return add_wrapped(lines, "", name + ": " + shown, columns);
  lines.push_back(name + ":");
  std::string_view rest = shown;
  while (true) {
    std::size_t end = rest.find('\n');
    add_wrapped(lines, kValueMark, rest.substr(0, end), columns);
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

// Shows "How should it be split?" with "By month | By customer" below it.
void add_questions(std::vector<std::string>& lines, const std::vector<AskedQuestion>& questions, std::size_t columns) {
  for (const AskedQuestion& question : questions) {
    add_wrapped(lines, "", exact_text(question.text, Lines::join), columns);
    std::string choices;
    for (const std::string& option : question.options) {
      choices.append(choices.empty() ? "" : " | ").append(exact_text(option, Lines::join));
    }
    if (!choices.empty()) add_wrapped(lines, kValueMark, choices, columns);
  }
}

// The marker at the start of the text, without brackets ("redacted:password:8"); empty if there is none.
std::string_view marker_at(std::string_view text) {
  std::size_t end = text.find(']');
  if (end > kMaxMarkerBytes) return {};  // too long, or no closing bracket
  std::string_view inside = text.substr(1, end - 1);
  std::string_view rest = inside.substr(kMarkWord.size());
  bool plain = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789:") == std::string_view::npos;
  return plain && (rest.empty() || rest.front() == ':') ? inside : std::string_view();
}

// "password, 8 characters" for "redacted:password:8".
std::string marker_words(std::string_view marker) {
  marker.remove_prefix(std::min(marker.size(), kMarkWord.size() + 1));
  std::size_t colon = marker.find(':');
  std::string words(marker.empty() ? "secret" : marker.substr(0, colon));
  std::ranges::replace(words, '_', ' ');
  if (colon != std::string_view::npos) words += fmt::format(", {} characters", marker.substr(colon + 1));
  return words;
}

}  // namespace

std::vector<std::string> input_lines(std::string_view input, std::size_t columns) {
  std::vector<std::string> lines;
  JsonMembers members(input);
  while (members.next()) {
    if (members.key() == "questions") {
      std::vector<AskedQuestion> questions = asked_questions(fmt::format(R"({{"input":{}}})", input));
      if (!questions.empty()) {
        add_questions(lines, questions, columns);
        continue;
      }
    }
    add_member(lines, members.key(), members.value(), columns);
  }
  return lines;
}

std::string redaction_notice(std::string_view input) {
  std::vector<std::string> hidden;
  const std::string mark = "[" + std::string(kMarkWord);
  for (std::size_t at = input.find(mark); at != std::string_view::npos; at = input.find(mark, at + 1)) {
    std::string_view marker = marker_at(input.substr(at));
    if (!marker.empty()) hidden.push_back(marker_words(marker));
  }
  if (hidden.empty()) return {};
  return fmt::format("{} hidden above ({}); the agent uses what is really there",
                     hidden.size() == 1 ? "a secret is" : fmt::format("{} secrets are", hidden.size()),
                     fmt::join(hidden, "; "));
}

AskedInput asked_input(ApiClient& client, std::string_view task, std::string_view event) {
  std::string_view data = find_member(event, "data");
  std::string_view own = find_member(data, "input");
  if (own.empty()) own = find_member(event, "input");
  AskedInput input;
  if (own.starts_with('{')) input.json = own;
  bool cut = find_member(data, "inputCut") == "true" || !find_member(find_member(event, "cut"), "input").empty() ||
             !find_member(find_member(event, "cut"), "data").empty();
  if (!cut) return input;
  Result<std::string> detail = client.detail(task, count_value(find_member(event, "sequence")).value_or(0));
  std::string_view whole = detail ? find_member(*detail, "input") : std::string_view();
  if (detail && whole.empty()) whole = find_member(find_member(*detail, "data"), "input");
  input.whole = whole.starts_with('{') && find_member(*detail, "truncated") != "true";
  if (input.whole) input.json = whole;
  return input;
}

Result<AskedInput> asked_input(ApiClient& client, std::string_view task, std::uint64_t sequence) {
  Result<std::string> event = client.event(task, sequence);
  if (!event) return fail(std::move(event.error()));
  return asked_input(client, task, *event);
}

std::vector<std::string> asked_lines(const AskedInput& input, std::size_t columns) {
  std::vector<std::string> lines = input_lines(input.json, columns);
  if (!input.whole) lines.emplace_back("(this is not all of it: the rest was too long to keep)");
  if (std::string notice = redaction_notice(input.json); !notice.empty()) {
    add_wrapped(lines, "", "(" + notice + ")", columns);
  }
  return lines;
}

}  // namespace shepherd
