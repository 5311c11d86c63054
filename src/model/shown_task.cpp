#include "model/shown_task.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "redact/redaction_mark.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kLongUserName = 16;  // shorter user names are "git", "x-access-token" or a person

bool tells(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"token", "key", "secret", "sig", "pass", "pwd", "auth", "credential", "code", "jwt"});
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), folded);
  return std::ranges::any_of(kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// `member` is name=value. Replaces the value if the name suggests a secret.
std::string shown_member(std::string_view member) {
  std::size_t equals = member.find('=');
  if (equals == std::string_view::npos || equals + 1 == member.size()) return std::string(member);
  std::string_view value = member.substr(equals + 1);
  if (mark_at(value, 0) > 0 || !tells(member.substr(0, equals))) return std::string(member);
  std::string shown(member.substr(0, equals + 1));
  append_mark(shown, "secret", value);
  return shown;
}

std::string shown_query(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    std::size_t end = std::min(query.find_first_of("&;"), query.size());
    out += shown_member(query.substr(0, end));
    if (end < query.size()) out += query[end++];
    query.remove_prefix(end);
  }
  return out;
}

// Replaces a user name in scheme://NAME@host that is long enough to be a token.
void hide_long_user(std::string& url) {
  std::size_t begin = url.find("://");
  if (begin == std::string::npos) return;
  begin += 3;
  std::size_t end = url.find_first_of("@/?#", begin);
  if (end == std::string::npos || url[end] != '@' || end - begin < kLongUserName) return;
  std::string_view user = std::string_view(url).substr(begin, end - begin);
  if (user.find(':') != std::string_view::npos) return;
  url.replace(begin, end - begin, "[redacted]");  // the usual mark has a colon, which would look like user:password
}

}  // namespace

std::string shown_url(const Redactor& redactor, std::string_view url) {
  std::string out(url);
  hide_long_user(out);  // must be first, because NAME@host looks like an e-mail address to the redactor
  out = redactor.redact(out);
  std::size_t mark = out.find('?');
  if (mark == std::string::npos) return out;
  std::size_t fragment = std::min(out.find('#', mark), out.size());
  std::string query = shown_query(std::string_view(out).substr(mark + 1, fragment - mark - 1));
  return out.replace(mark + 1, fragment - mark - 1, query);
}

namespace {

void redact_info(const Redactor& redactor, TaskInfo& spec, TaskState& state) {
  for (std::string* text : {&spec.title, &spec.source_type, &spec.source_id, &spec.repo_ref, &spec.agent, &spec.model,
                            &spec.runner, &spec.workflow_id, &state.runner, &state.model}) {
    if (!text->empty()) *text = redactor.redact(*text);
  }
  for (std::string* url : {&spec.repo_url, &spec.callback_url, &spec.source_url}) *url = shown_url(redactor, *url);
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : spec.labels) labels.emplace(redactor.redact(name), redactor.redact(value));
  spec.labels = std::move(labels);
}

}  // namespace

TaskRow shown_row(const Redactor& redactor, const TaskRow& row) {
  TaskRow shown = row;
  redact_info(redactor, shown.spec, shown.state);
  return shown;
}

Task shown_task(const Redactor& redactor, const Task& task) {
  Task shown = task;
  TaskSpec& spec = shown.spec;
  spec.context.clear();
  redact_info(redactor, spec, shown.state);
  spec.description = redactor.redact(spec.description);
  for (std::string& word : spec.command) word = redactor.redact(word);
  for (std::string& tool : spec.allowed_tools) tool = redactor.redact(tool);
  return shown;
}

}  // namespace shepherd
