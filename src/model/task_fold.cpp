#include "model/task_fold.h"

#include <iterator>
#include <optional>

#include "json/scan.h"
#include "model/limits.h"
#include "model/task_commands.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

// The order of states: queued, starting, active, terminal. A status may not go back in it.
int rank(State state) {
  if (is_terminal(state)) return 3;
  if (state == State::queued) return 0;
  return state == State::starting ? 1 : 2;
}

// One exception: the server returns a claimed task to the queue if its runner lost the lease before it started the
// task.
bool is_allowed(State from, State to, bool by_server) {
  if (by_server && from == State::starting && to == State::queued) return true;
  return !is_terminal(from) && rank(to) >= rank(from);
}

bool comes_from_agent(EventType type) {
  switch (type) {
    case EventType::status:
    case EventType::command:
    case EventType::command_result:
    case EventType::message:
    case EventType::eviction:
      return false;
    default:
      return true;
  }
}

bool says_what_the_agent_does(EventType type) {
  return type == EventType::tool_call || type == EventType::thinking || type == EventType::output ||
         type == EventType::status;
}

// Takes a text member if it is present and not empty.
void take_text(std::string& into, std::string_view json, std::string_view key) {
  if (auto text = string_value(find_member(json, key)); text && !text->empty()) into = std::move(*text);
}

void take_count(std::uint64_t& into, std::string_view json, std::string_view key) {
  if (auto count = count_value(find_member(json, key))) into = *count;
}

std::optional<State> reported_state(std::string_view data) {
  auto text = string_value(find_member(data, "state"));
  return text ? state_named(*text) : std::nullopt;
}

void enter(TaskState& state, State next, const FoldEvent& event) {
  if (!is_allowed(state.state, next, event.by_server)) return;
  state.state = next;
  if (state.started_ms == 0 && rank(next) == 2) state.started_ms = event.received_ms;
  if (is_terminal(next)) {
    state.completed_ms = event.received_ms;
    state.end_sequence = event.sequence;
    state.inferred_end = event.by_server;
    end_commands(state);
  }
}

void fold_usage(TaskState& state, std::string_view body) {
  std::string session = state.session_id;
  take_text(session, body, "sessionID");
  auto& sessions = state.usage_by_session;
  if (!sessions.contains(session) && sessions.size() >= kMaxUsageSessions) {
    // The entry without a name absorbs the oldest session. If that session reports again, it counts twice.
    auto oldest = sessions.begin()->first.empty() ? std::next(sessions.begin()) : sessions.begin();
    Usage moved = oldest->second;
    sessions.erase(oldest);
    sessions[""] += moved;
  }
  Usage& usage = sessions[session];
  std::string_view data = find_member(body, "data");
  auto cost = number_value(find_member(data, "costUSD"));
  bool priced = cost && *cost >= 0;
  if (priced) usage.cost_usd = *cost;
  take_count(usage.input_tokens, data, "inputTokens");
  take_count(usage.output_tokens, data, "outputTokens");
  take_count(usage.cache_read_tokens, data, "cacheReadTokens");
  take_count(usage.cache_write_tokens, data, "cacheWriteTokens");
  take_count(usage.api_calls, data, "apiCalls");
  take_count(usage.tool_uses, data, "toolUses");
  take_count(usage.turns, data, "turns");
  // In the middle of a turn the cost may still come. What never had one is not free.
  bool may_come = find_member(data, "partial") == "true";
  bool never_priced = usage.cost_usd == 0 && total_tokens(usage) > 0;
  if (priced || find_member(data, "unpriced") == "true" || (never_priced && !may_come)) {
    usage.unpriced = !priced || find_member(data, "unpriced") == "true";
  }
  state.usage = {};
  for (const auto& [name, part] : sessions) state.usage += part;
}

void fold_status(TaskState& state, const FoldEvent& event) {
  std::string_view data = find_member(event.body, "data");
  auto next = reported_state(data);
  std::string message;
  take_text(message, data, "message");
  if (message.empty()) message = unescape(event.summary).value_or("");
  if (!message.empty()) state.message = message;
  take_text(state.pr_url, data, "prURL");
  take_text(state.error, data, "error");
  fold_runner(state, event);
  if (next) {
    bool unhappy = *next == State::failed || *next == State::timed_out;
    if (unhappy && state.error.empty()) state.error = message;
    enter(state, *next, event);
  } else if (!event.by_server && rank(state.state) < 2) {
    enter(state, State::running, event);
  }
}

}  // namespace

void fold(TaskState& state, const FoldEvent& event) {
  if (state.first_sequence == 0) state.first_sequence = event.sequence;
  state.last_sequence = event.sequence;
  state.last_event_ms = event.received_ms;
  if (event.type == EventType::tool_call) ++state.tool_calls;
  if (event.type == EventType::error) ++state.errors;
  if (event.type == EventType::usage) fold_usage(state, event.body);
  if (event.late || is_terminal(state.state)) return;

  if (comes_from_agent(event.type) && !event.by_server && rank(state.state) < 2) {
    enter(state, State::running, event);
  }
  if (says_what_the_agent_does(event.type) && !event.summary.empty()) {
    state.activity = unescape(event.summary).value_or("");
  }
  switch (event.type) {
    case EventType::status:
      fold_status(state, event);
      break;
    case EventType::session_start:
      take_text(state.session_id, event.body, "sessionID");
      take_text(state.model, find_member(event.body, "data"), "model");
      break;
    case EventType::result:
      take_text(state.pr_url, find_member(event.body, "data"), "prURL");
      break;
    case EventType::command:
      fold_command(state, event);
      break;
    case EventType::command_result:
      fold_command_result(state, event);
      break;
    case EventType::approval:
      fold_approval(state, event);
      break;
    default:
      break;
  }
}

State end_state_of(EventType type, std::string_view body) {
  if (type != EventType::status) return State::running;
  auto state = reported_state(find_member(body, "data"));
  return state && is_terminal(*state) ? *state : State::running;
}

}  // namespace shepherd
