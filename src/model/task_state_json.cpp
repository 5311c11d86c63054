#include "model/json_read.h"
#include "model/json_write.h"
#include "model/task_fold.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

namespace dom = simdjson::dom;

// Takes a member when it has the expected type; anything else leaves the default.
template <class T>
void take(dom::element from, const char* key, T& into) {
  T value{};
  if (from[key].get(value) == simdjson::SUCCESS) into = value;
}
void take(dom::element from, const char* key, std::string& into) {
  std::string_view text;
  take(from, key, text);
  if (!text.empty()) into = text;
}

Usage read_usage(dom::element from) {
  Usage usage;
  take(from, "costUSD", usage.cost_usd);
  take(from, "inputTokens", usage.input_tokens);
  take(from, "outputTokens", usage.output_tokens);
  take(from, "cacheReadTokens", usage.cache_read_tokens);
  take(from, "cacheWriteTokens", usage.cache_write_tokens);
  take(from, "apiCalls", usage.api_calls);
  take(from, "toolUses", usage.tool_uses);
  take(from, "turns", usage.turns);
  return usage;
}

}  // namespace

std::string encode_task_state(const TaskState& state) {
  std::string out;
  {
    JsonObject object(out);
    object.text("state", name(state.state));
    if (state.inferred_end) object.flag("inferredEnd", true);
    object.text_unless_empty("message", state.message);
    object.text_unless_empty("activity", state.activity);
    object.text_unless_empty("prURL", state.pr_url);
    object.text_unless_empty("error", state.error);
    object.text_unless_empty("sessionID", state.session_id);
    object.text_unless_empty("model", state.model);
    object.number("firstSequence", state.first_sequence);
    object.number("lastSequence", state.last_sequence);
    object.number("errors", state.errors);
    object.number("toolCalls", state.tool_calls);
    object.number("startedMS", state.started_ms);
    object.number("lastEventMS", state.last_event_ms);
    object.number("completedMS", state.completed_ms);
    if (!state.usage_by_session.empty()) {
      append_usage(object.member("usage"), state.usage);
      auto& sessions = object.member("usageBySession");
      sessions.push_back('[');
      for (const auto& [session, usage] : state.usage_by_session) {
        if (sessions.back() != '[') sessions.push_back(',');
        JsonObject entry(sessions);
        entry.text("sessionID", session);
        append_usage(entry.member("usage"), usage);
      }
      sessions.push_back(']');
    }
  }
  return out;
}

TaskState decode_task_state(std::string_view json) {
  TaskState state;
  JsonParser parser(json.size());
  auto root = parser.parse(json);
  if (!root) return state;
  std::string state_name;
  take(*root, "state", state_name);
  state.state = state_named(state_name).value_or(State::queued);
  take(*root, "inferredEnd", state.inferred_end);
  take(*root, "message", state.message);
  take(*root, "activity", state.activity);
  take(*root, "prURL", state.pr_url);
  take(*root, "error", state.error);
  take(*root, "sessionID", state.session_id);
  take(*root, "model", state.model);
  take(*root, "firstSequence", state.first_sequence);
  take(*root, "lastSequence", state.last_sequence);
  take(*root, "errors", state.errors);
  take(*root, "toolCalls", state.tool_calls);
  take(*root, "startedMS", state.started_ms);
  take(*root, "lastEventMS", state.last_event_ms);
  take(*root, "completedMS", state.completed_ms);
  dom::element usage;
  if ((*root)["usage"].get(usage) == simdjson::SUCCESS) state.usage = read_usage(usage);
  dom::array sessions;
  if ((*root)["usageBySession"].get(sessions) == simdjson::SUCCESS) {
    for (dom::element entry : sessions) {
      std::string session;
      take(entry, "sessionID", session);
      dom::element part;
      if (entry["usage"].get(part) == simdjson::SUCCESS) state.usage_by_session[session] = read_usage(part);
    }
  }
  return state;
}

}  // namespace shepherd
