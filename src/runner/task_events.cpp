#include "runner/task_events.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "driver/event_json.h"
#include "json/scan.h"
#include "json/tree.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/task_fold.h"
#include "outbox/outbox_event.h"
#include "redact/redact_tree.h"
#include "runner/pull_request_link.h"

namespace shepherd {

std::vector<std::string> secret_values(const std::vector<std::string>& environment) {
  constexpr std::array<std::string_view, 6> kTelling{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "PRIVATE_KEY"};
  std::vector<std::string> values;
  for (const std::string& variable : environment) {
    std::size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    std::string name = variable.substr(0, equals);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    bool telling = name.ends_with("_KEY") || std::ranges::any_of(kTelling, [&](std::string_view word) {
                     return name.find(word) != std::string::npos;
                   });
    if (telling) values.push_back(variable.substr(equals + 1));
  }
  return values;
}

namespace {

// The text that a watcher sees at once; a link deep inside a tool's output is not the agent's result.
std::string_view shown_text(const DriverEvent& event) {
  if (event.type != EventType::tool_result) return event.json;
  std::string_view json = event.json;
  std::string_view output = find_member(json, "output");
  if (output.empty()) return json;
  std::size_t begin = static_cast<std::size_t>(output.data() - json.data());
  return json.substr(0, begin + std::min(output.size(), 2 * kCondensedResultCharacters));
}

}  // namespace

TaskEvents::TaskEvents(EventOut& out, const Redactor& redactor, const Clock& clock, std::string repository,
                       Observe observe)
    : out_(out),
      redactor_(redactor),
      clock_(clock),
      repository_(std::move(repository)),
      observe_(std::move(observe)),
      block_text_(redactor) {}

std::string TaskEvents::pr_url() const {
  MutexLock lock(mutex_);
  return pr_url_;
}

std::string TaskEvents::redacted(std::string json) const {
  if (!redactor_.may_match(json)) return json;
  auto tree = parse_tree(json);
  // Unreadable events cannot be searched for secrets, so they are not sent.
  if (!tree) return unfit_event("an event that could not be redacted", clock_.wall_ms());
  redact_tree("", *tree, redactor_);
  return tree_text(*tree);
}

void TaskEvents::add(const DriverEvent& event) {
  if (observe_) observe_(event);
  bool words = event.type == EventType::output || event.type == EventType::thinking;
  // A sub-agent's text does not finish a stream, because only the agent's own text is streamed.
  if (words && find_member(event.json, "parentCallID").empty()) {
    MutexLock lock(mutex_);
    finish_block();
  }
  if (words || event.type == EventType::tool_result) {
    if (std::string link = pull_request_link(shown_text(event), repository_); !link.empty()) {
      MutexLock lock(mutex_);
      pr_url_ = std::move(link);
    }
  }
  std::string json;
  json.reserve(event.json.size() + event.detail.size() + 16);
  append_posted(json, event, 0);
  json = redacted(std::move(json));
  if (event.type == EventType::status && is_terminal(end_state_of(event.type, event.json))) {
    out_.add_end(std::move(json));
  } else {
    out_.add(std::move(json));
  }
}

void TaskEvents::delta(const TextDelta& delta) {
  MutexLock lock(mutex_);
  if (delta.block != block_) {
    finish_block();
    block_ = delta.block;
  }
  send_delta(block_text_.add(delta.text));
}

void TaskEvents::finish_block() {
  send_delta(block_text_.finish());
  block_.clear();
}

void TaskEvents::send_delta(std::string_view text) {
  if (text.empty()) return;
  std::string_view block = block_;
  std::string json = object_text([&](JsonObject& object) {
    object.text("block", block);
    object.text("text", text);
  });
  out_.add_delta(redacted(std::move(json)));
}

void TaskEvents::own(EventType type, std::string_view summary, std::string_view data, std::string_view event_id,
                     std::string detail) {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = clock_.wall_ms();
  parts.summary = summary;
  parts.data = data;
  parts.event_id = event_id;
  add(make_event(parts, std::move(detail)));
}

void TaskEvents::status(State state, std::string_view summary, std::string_view more) {
  std::string data = "{\"state\":\"";
  data.append(name(state)).append("\"");
  if (!more.empty()) data.append(",").append(more);
  own(EventType::status, summary, data.append("}"));
}

void TaskEvents::log(std::string_view summary) {
  own(EventType::log, summary, R"({"stream":"runner"})");
}

void TaskEvents::error(std::string_view code, std::string_view summary) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", code);
    object.flag("fatal", true);
    object.flag("recoverable", false);
  });
  own(EventType::error, summary, data);
}

void TaskEvents::result(std::string_view summary, std::string_view data_json) {
  own(EventType::result, summary, data_json);
}

void TaskEvents::command_result(std::string_view id, CommandState state, std::string_view reason, std::string detail) {
  std::string summary(name(state));
  if (!reason.empty()) summary.append(": ").append(reason);
  own(EventType::command_result, summary, encode_command_result(id, state, reason),
      std::string(id) + "/" + std::string(name(state)), std::move(detail));
}

}  // namespace shepherd
