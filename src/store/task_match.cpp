#include "store/task_match.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "model/wire_json.h"

namespace shepherd {

namespace {

bool has_label(const TaskInfo& spec, std::string_view key, const std::string& value) {
  for (std::string_view prefix : {"", "shepherd.io/"}) {
    auto label = spec.labels.find(std::string(prefix).append(key));
    if (label != spec.labels.end() && label->second == value) return true;
  }
  return false;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool contains(std::string_view text, std::string_view part) {
  auto found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                           [](char a, char b) { return lower(a) == lower(b); });
  return found != text.end() || part.empty();
}

}  // namespace

bool matches(const TaskFilter& filter, const TaskRow& row, const std::string* description) {
  const TaskInfo& spec = row.spec;
  if (filter.state && row.state.state != *filter.state) return false;
  if (filter.active && is_terminal(row.state.state)) return false;
  if (!filter.agent.empty() && spec.agent != filter.agent) return false;
  if (!filter.workflow.empty() && spec.workflow_id != filter.workflow) return false;
  if (!filter.repo.empty() && spec.repo_url != filter.repo && !has_label(spec, "repo", filter.repo)) return false;
  if (!filter.issue.empty() && spec.source_id != filter.issue && spec.source_url != filter.issue &&
      !has_label(spec, "issue", filter.issue)) {
    return false;
  }
  if (!filter.fleet.empty() && !has_label(spec, "fleet", filter.fleet)) return false;
  if (!filter.session.empty() && row.state.session_id != filter.session &&
      !row.state.usage_by_session.contains(filter.session)) {
    return false;
  }
  for (const auto& [key, value] : filter.labels) {
    auto label = spec.labels.find(key);
    if (label == spec.labels.end() || label->second != value) return false;
  }
  if (filter.text.empty()) return true;
  return contains(spec.id, filter.text) || contains(spec.title, filter.text) || contains(spec.repo_url, filter.text) ||
         (description != nullptr && contains(*description, filter.text));
}

std::string place_after(const TaskRow& row) {
  return std::to_string(row.created_ms) + ":" + row.spec.id;
}

std::optional<TaskPlace> task_place(std::string_view before) {
  std::size_t colon = before.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  TaskPlace place{0, std::string(before.substr(colon + 1))};
  std::string_view time = before.substr(0, colon);
  auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), place.created_ms);
  if (error != std::errc() || end != time.data() + time.size()) return std::nullopt;
  return place;
}

std::string spec_fingerprint(const TaskSpec& spec) {
  TaskSpec anonymous = spec;
  anonymous.id.clear();
  return encode_task_spec(anonymous);
}

}  // namespace shepherd
