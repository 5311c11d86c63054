#include <algorithm>
#include <array>
#include <utility>

#include "driver/codex/codex.h"
#include "driver/limits.h"
#include "driver/plan_data.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// Known notifications that say nothing about the work, or what another record says again.
constexpr std::array<std::string_view, 38> kPassedOver{
    "thread/status/changed",
    "thread/name/updated",
    "thread/readState/changed",
    "thread/settings/updated",
    "thread/environment/connected",
    "thread/environment/disconnected",
    "thread/archived",
    "thread/unarchived",
    "thread/closed",
    "thread/queue/changed",
    "thread/compacted",
    "thread/goal/updated",
    "thread/goal/cleared",
    "thread/prediction/updated",
    "thread/project/updated",
    "thread/attachment/updated",
    "project/changed",
    "skills/changed",
    "hook/started",
    "item/reasoning/summaryPartAdded",
    "item/commandExecution/outputDelta",
    "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/mcpToolCall/progress",
    "rawResponseItem/completed",
    "rawResponse/completed",
    "remoteControl/status/changed",
    "account/updated",
    "account/login/completed",
    "account/gatewayOAuth/changed",
    "app/list/updated",
    "fs/changed",
    "turn/moderationMetadata",
    "model/safetyBuffering/updated",
    "model/verification",
    "modelProvider/authRecoveryStarted",
    "modelProvider/authRecoveryCompleted",
};

}  // namespace

void Codex::server_record(Actions& out) {
  auto time = count_of(record_.find("emittedAtMs"));
  if (time && *time > 0 && *time <= static_cast<std::uint64_t>(kMaxTimestampMs)) {
    at_ms_ = static_cast<std::int64_t>(*time);
  }
  std::string_view method = record_.string("method");
  const JsonNode& id = record_.find("id");
  if (method.empty()) {
    if (id.kind == JsonKind::null) return unknown("", out);
    return answered(out);
  }
  if (id.kind == JsonKind::number || id.kind == JsonKind::string) return server_request(method, out);
  notification(method, record_.find("params"), out);
}

void Codex::notification(std::string_view method, const JsonNode& params, Actions& out) {
  std::string_view thread = record_.string(params, "threadId");
  bool ours = thread.empty() || hints_.session_id.empty() || thread == hints_.session_id;
  if (!ours) {
    auto found = agents_.find(thread);
    if (found != agents_.end()) parent_call_ = found->second;
  }
  if (method == "item/started") return item(record_.find(params, "item"), false, out);
  if (method == "item/completed") return item(record_.find(params, "item"), true, out);
  if (method.ends_with("/delta") || method.ends_with("TextDelta") || method == "item/reasoning/textDelta") {
    return delta(params, out);
  }
  if (method == "thread/started") {
    // One that a sub-agent works in is not ours.
    const JsonNode& begun = record_.find(params, "thread");
    if (record_.string(begun, "parentThreadId").empty()) begin_session(params, out);
    return;
  }
  if (method == "serverRequest/resolved") return resolved(record_.find(params, "requestId").slice, out);
  bool known = ours ? turn_notification(method, params, out) : method.starts_with("turn/");
  if (known || remark(method, params, out)) return;
  if (std::ranges::find(kPassedOver, method) == kPassedOver.end()) unknown(method, out);
}

// What concerns our own turns alone.
bool Codex::turn_notification(std::string_view method, const JsonNode& params, Actions& out) {
  if (method == "turn/started") {
    turn_started(record_.find(params, "turn"), out);
  } else if (method == "turn/completed") {
    turn_completed(record_.find(params, "turn"), out);
  } else if (method == "turn/plan/updated") {
    to_do(params, out);
  } else if (method == "turn/diff/updated") {
    diff_ = record_.string(params, "diff");
  } else if (method == "thread/tokenUsage/updated") {
    usage_.total(record_, record_.find(record_.find(params, "tokenUsage"), "total"));
    // Before the first turn of a resumed session it tells what the earlier ones have used.
    if (!in_turn()) {
      usage_.told();
      return true;
    }
    usage_.api_call();
    tell_usage(out);
  } else if (method == "error") {
    server_error(record_.find(params, "error"), is_true(record_.find(params, "willRetry")), out);
  } else {
    return false;
  }
  return true;
}

// What the agent says about itself.
bool Codex::remark(std::string_view method, const JsonNode& params, Actions& out) {
  if (method == "warning" || method == "guardianWarning") {
    log(out, record_.string(params, "message"));
  } else if (method == "configWarning" || method == "deprecationNotice") {
    std::string text(record_.string(params, "summary"));
    if (std::string_view more = record_.string(params, "details"); !more.empty()) text.append("\n").append(more);
    log(out, text);
  } else if (method == "mcpServer/startupStatus/updated") {
    if (record_.string(params, "status") != "failed") return true;
    log(out, "The MCP server " + std::string(record_.string(params, "name")) +
                 " did not start: " + std::string(record_.string(params, "error")));
  } else if (method == "model/rerouted") {
    log(out, "The model is now " + std::string(record_.string(params, "toModel")));
  } else if (method == "hook/completed") {
    const JsonNode& run = record_.find(params, "run");
    std::string text =
        "Hook for " + std::string(record_.string(run, "eventName")) + ": " + std::string(record_.string(run, "status"));
    const JsonNode& entries = record_.find(run, "entries");
    for (const JsonNode* each = record_.first(entries); each != nullptr; each = record_.after(*each)) {
      text.append("\n").append(record_.string(*each, "text"));
    }
    log(out, text);
  } else if (method == "account/rateLimits/updated") {
    const JsonNode& limits = record_.find(params, "rateLimits");
    std::string_view reached = record_.string(limits, "rateLimitReachedType");
    if (!reached.empty()) log(out, "A limit of the account is reached: " + std::string(reached));
  } else {
    return false;
  }
  return true;
}

// Text as it grows.
void Codex::delta(const JsonNode& params, Actions& out) {
  std::string_view text = record_.string(params, "delta");
  std::string_view item = record_.string(params, "itemId");
  if (!launched_.deltas || text.empty() || item.empty()) return;
  if (text.size() > kMaxDeltaBytes / 8) return;  // escaping may make six bytes of one
  out.delta({std::string(item.substr(0, kMaxAgentIdBytes)), std::string(text)});
}

void Codex::turn_started(const JsonNode& turn, Actions& out) {
  turn_ = record_.string(turn, "id").substr(0, kMaxAgentIdBytes);
  turn_asked_ = false;
  hints_.interrupted = false;
  lives_ = true;
  bool waits = !talk_.approvals.empty();
  bool runs = in_turn();
  hints_.turn = waits ? Hints::Turn::waiting : Hints::Turn::running;
  if (runs) return;
  usage_told_ms_ = now_ms_;
  last_error_.clear();
  diff_.clear();
  std::uint64_t number = hints_.turns + 1;
  if (number > 1)
    status(out, "Turn " + std::to_string(number) + " started", "running", "\"turn\":" + std::to_string(number));
  if (early_interrupt_) {
    Command early = *std::exchange(early_interrupt_, std::nullopt);
    return interrupt(early, out);
  }
  for (const std::string& id : unsaid_words()) steer(id, out);
}

void Codex::turn_completed(const JsonNode& turn, Actions& out) {
  std::string_view outcome = record_.string(turn, "status");
  if (const JsonNode& error = record_.find(turn, "error"); error.kind == JsonKind::object) {
    server_error(error, false, out);
  }
  std::optional<std::int64_t> took;
  if (auto ms = count_of(record_.find(turn, "durationMs"))) took = static_cast<std::int64_t>(*ms);
  end_turn(outcome.empty() ? "completed" : outcome, took, out);
}

// The agent's own list of what it has to do.
void Codex::to_do(const JsonNode& params, Actions& out) {
  const JsonNode& plan = record_.find(params, "plan");
  std::vector<PlanStep> steps;
  for (const JsonNode* each = record_.first(plan); each != nullptr; each = record_.after(*each)) {
    steps.push_back({std::string(record_.string(*each, "step")), plan_status(record_.string(*each, "status"))});
  }
  status(out, plan_summary(steps), "", plan_members(steps));
}

void Codex::server_error(const JsonNode& error, bool will_retry, Actions& out) {
  const JsonNode& info = record_.find(error, "codexErrorInfo");
  std::string code(info.text);
  std::optional<std::uint64_t> http;
  if (const JsonNode* kind = record_.first(info); kind != nullptr) {
    code = kind->key;
    http = count_of(record_.find(*kind, "httpStatusCode"));
  }
  std::string_view message = record_.string(error, "message");
  if (will_retry) return retry(message, record_.string(error, "additionalDetails"), http, out);
  fatal(message, code.empty() || code == "other" ? "agent_failed" : snake_word(code), http, out);
}

// The server answers a request of ours.
void Codex::answered(Actions& out) {
  const JsonNode& result = record_.find("result");
  const JsonNode& error = record_.find("error");
  lives_ = true;
  // The answer to the request for it describes the thread.
  if (record_.find(result, "thread").kind == JsonKind::object && !record_.string(result, "model").empty()) {
    begin_session(result, out);
  }
  auto id = count_of(record_.find("id"));
  auto found = id ? talk_.requests.find(*id) : talk_.requests.end();
  if (found == talk_.requests.end()) {
    if (error.kind == JsonKind::object) log(out, "Unexpected answer: " + std::string(record_.string(error, "message")));
    return;
  }
  CodexRequest request = std::move(found->second);
  talk_.requests.erase(found);
  if (error.kind == JsonKind::object) return refused(request, record_.string(error, "message"), out);
  switch (request.kind) {
    case CodexRequest::Kind::initialize:
      out.write(notification_line("initialized"));
      return ask_server({CodexRequest::Kind::open_thread},
                        launched_.resume_session.empty() ? "thread/start" : "thread/resume", thread_params(), out);
    case CodexRequest::Kind::open_thread:
      if (hints_.session_id.empty()) return fatal("The agent did not begin a session", "no_session", std::nullopt, out);
      return start_turn("prompt", out);
    case CodexRequest::Kind::start_turn:
      if (CodexWord* word = talk_.word(request.command_id); word != nullptr) word->begins = true;
      if (const JsonNode& turn = record_.find(result, "turn"); turn_asked_) turn_started(turn, out);
      return;
    case CodexRequest::Kind::steer:
      return;  // it is taken up when the server shows it
    case CodexRequest::Kind::interrupt:
      out.settle({request.command_id, CommandState::acknowledged, ""});
      if (request.stops) out.close_input();
      return;
  }
}

// It does not do what we asked for.
void Codex::refused(const CodexRequest& request, std::string_view why, Actions& out) {
  std::string reason(event_text(why));
  if (reason.empty()) reason = "the agent refused";
  // Elsewhere people know it by this name.
  constexpr std::string_view kThread = "thread id ";
  if (auto at = reason.find(kThread); at != std::string::npos) reason.replace(at, kThread.size(), "session ID: ");
  switch (request.kind) {
    case CodexRequest::Kind::initialize:
    case CodexRequest::Kind::open_thread:
      fatal(launched_.resume_session.empty() ? reason : "The session cannot be resumed: " + reason,
            launched_.resume_session.empty() ? "no_session" : "session_not_found", std::nullopt, out);
      return out.close_input();
    case CodexRequest::Kind::start_turn: {
      turn_asked_ = false;
      const CodexWord* word = talk_.word(request.command_id);
      std::string command = word == nullptr ? "" : word->command_id;
      talk_.forget(request.command_id);
      if (!command.empty()) return out.settle({command, CommandState::refused, reason});
      fatal(reason, "agent_failed", std::nullopt, out);
      return out.close_input();
    }
    case CodexRequest::Kind::steer: {
      // Its turn was over before it came, or takes no words: then it is for the next one.
      CodexWord* word = talk_.word(request.command_id);
      if (word == nullptr || word->taken_up) return;
      word->said = false;
      if (!in_turn() && !turn_asked_) return start_turn(word->id, out);
      return;
    }
    case CodexRequest::Kind::interrupt:
      if (request.stops) {
        out.settle({request.command_id, CommandState::acknowledged, ""});
        return out.close_input();
      }
      return out.settle({request.command_id, CommandState::refused, reason});
  }
}

}  // namespace shepherd
