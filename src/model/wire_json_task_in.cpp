#include <charconv>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/ids.h"
#include "json/request.h"
#include "model/command.h"
#include "model/event_members.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

namespace dom = simdjson::dom;

// Parses "90s", "30m", "1h30m"; nullopt if it is not a duration.
std::optional<std::int64_t> duration_seconds(std::string_view text) {
  std::int64_t total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::size_t used = static_cast<std::size_t>(end - text.data());
    constexpr std::int64_t kMostUnits = 1'000'000'000;  // 30 years of seconds; prevents overflow of the sum
    if (error != std::errc() || used >= text.size() || value < 0 || value > kMostUnits) return std::nullopt;
    switch (text[used]) {
      case 's':
        total += value;
        break;
      case 'm':
        total += value * 60;
        break;
      case 'h':
        total += value * 3600;
        break;
      default:
        return std::nullopt;
    }
    text.remove_prefix(used + 1);
  }
  return total;
}

void read_timeout(JsonRequest& request, std::int64_t& seconds) {
  auto element = request.member("timeout");
  if (!element) return;
  std::string_view text;
  if (element->get(text) != simdjson::SUCCESS) return request.whole("timeout", seconds);
  auto duration = duration_seconds(text);
  if (!duration) return request.refuse("timeout", "seconds, or a duration such as \"30m\"");
  seconds = *duration;
}

// Older clients send an object of runner settings; its timeout applies to the task.
void read_runner(JsonRequest& request, TaskSpec& spec) {
  auto element = request.member("runner");
  if (!element) return;
  if (!element->is_object()) return request.text("runner", spec.runner);
  auto runner = request.object("runner");
  runner->text("name", spec.runner);
  read_timeout(*runner, spec.timeout_seconds);
}

void check_labels(JsonRequest& request, const std::map<std::string, std::string>& labels) {
  if (labels.size() > kMaxLabels) {
    request.refuse("labels", "an object of at most " + std::to_string(kMaxLabels) + " labels");
  }
  for (const auto& [key, value] : labels) {
    if (key.empty() || key.size() > kMaxLabelBytes || value.size() > kMaxLabelBytes) {
      request.refuse("labels", "names and values of at most " + std::to_string(kMaxLabelBytes) + " bytes");
    }
  }
}

// Merges the given labels; null removes a label.
void merge_labels(JsonRequest& request, std::map<std::string, std::string>& labels) {
  auto given = request.object("labels");
  if (!given) return;
  for (auto [key, value] : given->raw()) {
    std::string_view text;
    if (value.is_null()) {
      labels.erase(std::string(key));
    } else if (value.get(text) == simdjson::SUCCESS) {
      labels[std::string(key)] = text;
    } else {
      given->refuse(key, "a string");
    }
  }
  check_labels(request, labels);
}

void read_mcp_servers(JsonRequest& request, std::string& into) {
  auto element = request.member("mcpServers");
  if (!element) return;
  if (!element->is_object() && !element->is_array()) return request.refuse("mcpServers", "an object or an array");
  into = simdjson::minify(*element);
}

void read_work(JsonRequest& request, TaskSpec& spec) {
  request.text("prompt", spec.description);
  if (auto task = request.object("task")) {
    task->text("description", spec.description);
    task->text("context", spec.context);
    task->text("sourceURL", spec.source_url);
    task->text("sourceType", spec.source_type);
    task->text("sourceID", spec.source_id);
  }
  if (auto repo = request.object("repo")) {
    repo->text("url", spec.repo_url);
    repo->text("ref", spec.repo_ref);
  }
}

void read_spec(JsonRequest& request, TaskSpec& spec) {
  request.text("id", spec.id);
  request.text("namespace", spec.namespace_name);
  request.text("title", spec.title);
  read_work(request, spec);
  request.text("agent", spec.agent);
  request.text("model", spec.model);
  request.text("mode", spec.mode);
  read_runner(request, spec);
  request.text("callbackURL", spec.callback_url);
  request.texts("callbackEvents", spec.callback_events);
  request.text("workflowID", spec.workflow_id);
  request.text("resumeOf", spec.resume_of);
  request.whole("maxTurns", spec.max_turns);
  read_timeout(request, spec.timeout_seconds);
  request.number("budget", spec.budget_usd);
  request.texts("allowedTools", spec.allowed_tools);
  request.texts("command", spec.command);
  read_mcp_servers(request, spec.mcp_servers_json);
  merge_labels(request, spec.labels);
}

// Everything that each list shows of a task is small; the payload has limits of its own.
Result<void> check_small(const TaskSpec& spec) {
  for (auto [member, text] :
       std::initializer_list<std::pair<const char*, const std::string&>>{{"title", spec.title},
                                                                         {"task.sourceURL", spec.source_url},
                                                                         {"task.sourceType", spec.source_type},
                                                                         {"task.sourceID", spec.source_id},
                                                                         {"repo.url", spec.repo_url},
                                                                         {"repo.ref", spec.repo_ref},
                                                                         {"agent", spec.agent},
                                                                         {"model", spec.model},
                                                                         {"runner", spec.runner},
                                                                         {"callbackURL", spec.callback_url},
                                                                         {"workflowID", spec.workflow_id}}) {
    if (text.size() > kMaxTaskTextBytes) {
      return fail(bad_member(member, "at most " + std::to_string(kMaxTaskTextBytes) + " bytes long"));
    }
  }
  return {};
}

}  // namespace

Result<TaskSpec> decode_task_request(std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  TaskSpec spec;
  read_spec(request, spec);
  if (error) return fail(*error);
  if (spec.description.empty()) {
    return fail(bad_member("task.description", "there and not empty (or \"prompt\" instead)"));
  }
  if (!spec.id.empty() && !is_task_id(spec.id)) {
    return fail(bad_member("id", "1 to 128 characters of A-Z, a-z, 0-9, dot, underscore and dash"));
  }
  if (!spec.mode.empty() && !agent_mode(spec.mode))
    return fail(bad_member("mode", "\"autonomous\" or \"interactive\""));
  if (!spec.resume_of.empty() && !is_task_id(spec.resume_of)) return fail(bad_member("resumeOf", "a task's id"));
  if (spec.command.size() > kMaxCommandArguments) {
    return fail(bad_member("command", "at most " + std::to_string(kMaxCommandArguments) + " words"));
  }
  for (const std::string& event : spec.callback_events) {
    if (event != "started" && event != "progress" && event != "completed" && event != "failed") {
      return fail(bad_member("callbackEvents", "an array of \"started\" and \"progress\"; the end is always reported"));
    }
  }
  if (!is_task_id(spec.namespace_name)) return fail(bad_member("namespace", "a name such as \"default\""));
  if (auto small = check_small(spec); !small) return fail(small.error());
  if (spec.context.size() > kMaxContextBytes) {
    return fail(Error{
        ErrorCode::too_large,
        "context_too_large",
        "\"task.context\" may have at most " + std::to_string(kMaxContextBytes) + " bytes",
        {}}.with("member", std::string("task.context")));
  }
  return spec;
}

const std::set<std::string>& task_request_members() {
  static const std::set<std::string> members = [] {
    std::string_view json = R"({"task":{},"repo":{}})";  // the objects whose members are read
    std::set<std::string> asked;
    JsonParser parser(json.size());
    auto object = request_object(parser, json);
    std::optional<Error> error;
    TaskSpec spec;
    JsonRequest request(*object, "", error, &asked);
    read_spec(request, spec);
    return asked;
  }();
  return members;
}

Result<void> apply_task_patch(TaskSpec& spec, std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  TaskSpec changed = spec;
  dom::element title;
  if (object->at_key("title").get(title) == simdjson::SUCCESS && title.is_null()) changed.title.clear();
  request.text("title", changed.title);
  merge_labels(request, changed.labels);
  if (error) return fail(*error);
  if (auto small = check_small(changed); !small) return small;
  spec = std::move(changed);
  return {};
}

TaskInfo decode_task_info(std::string_view json) {
  const TaskSpec spec = decode_task_spec(json);
  return static_cast<const TaskInfo&>(spec);
}

TaskSpec decode_task_spec(std::string_view json) {
  TaskSpec spec;
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return spec;
  std::optional<Error> error;  // ignored: a damaged member keeps its default
  JsonRequest request(*object, "", error);
  read_spec(request, spec);
  return spec;
}

}  // namespace shepherd
