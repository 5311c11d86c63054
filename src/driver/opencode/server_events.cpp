#include <algorithm>
#include <array>
#include <utility>

#include "driver/limits.h"
#include "driver/opencode/opencode_server.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

// Events of the service that say nothing about the work, or what others say better.
bool is_noise(std::string_view type) {
  constexpr std::array<std::string_view, 29> kNoise{"server.connected",
                                                    "server.heartbeat",
                                                    "session.updated",
                                                    "session.diff",
                                                    "session.deleted",
                                                    "message.removed",
                                                    "message.part.removed",
                                                    "plugin.added",
                                                    "catalog.updated",
                                                    "reference.updated",
                                                    "integration.updated",
                                                    "integration.connection.updated",
                                                    "file.edited",
                                                    "file.watcher.updated",
                                                    "todo.updated",
                                                    "lsp.updated",
                                                    "lsp.client.diagnostics",
                                                    "project.updated",
                                                    "project.directories.updated",
                                                    "vcs.branch.updated",
                                                    "mcp.tools.changed",
                                                    "command.executed",
                                                    "models-dev.refreshed",
                                                    "installation.updated",
                                                    "installation.update-available",
                                                    "server.instance.disposed",
                                                    "pty.created",
                                                    "pty.updated",
                                                    "pty.exited"};
  for (std::string_view noise : kNoise) {
    if (noise == type) return true;
  }
  // The next generation of its events, which repeats the others, and its own screen.
  return type.starts_with("session.next.") || type.starts_with("tui.") || type.find(".v2.") != std::string_view::npos;
}

// " in 2 s", or nothing when our clock and the agent's do not fit.
std::string in_seconds(std::int64_t now_ms, std::uint64_t then_ms) {
  constexpr std::int64_t kLongestMs = 3'600'000;
  std::int64_t left = static_cast<std::int64_t>(std::min<std::uint64_t>(then_ms, kMaxTimestampMs)) - now_ms;
  return left < 0 || left > kLongestMs ? "" : " in " + std::to_string((left + 500) / 1'000) + " s";
}

}  // namespace

void OpenCodeServer::event(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& event = json.find("event");
  const JsonNode& properties = json.find(event, "properties");
  std::string_view type = json.string(event, "type");
  if (type == "session.created") return session_created(out);
  if (is_noise(type)) return;
  std::string_view session = json.string(properties, "sessionID");
  if (!session.empty() && !concerns_us(session)) return;  // of another task of this directory
  if (type == "message.part.updated") return part_updated(out);
  if (type == "message.part.delta") return part_delta(out);
  if (type == "message.updated") return message_updated(out);
  if (type == "session.status") return is_ours(session) ? session_status(json.find(properties, "status"), out) : void();
  if (type == "session.idle") return is_ours(session) ? end_turn(out) : void();
  if (type == "session.error") return session_error(out);
  if (type == "session.compacted") return events_.status(out, "Conversation compacted", "");
  if (type == "permission.asked") return permission_asked(out);
  if (type == "question.asked") return question_asked(out);
  if (type == "permission.replied" || type == "question.replied" || type == "question.rejected") {
    std::string_view reply = json.string(properties, "reply");
    return replied(type == "question.replied"                         ? "answered"
                   : reply == "reject" || type == "question.rejected" ? "denied"
                                                                      : "approved",
                   out);
  }
  events_.unknown(out, type);
}

// A sub-agent's session has ours, or another sub-agent's, as its parent.
void OpenCodeServer::session_created(Actions& /*out*/) {
  const JsonSlices& json = events_.json();
  const JsonNode& info = json.find(json.find(json.find("event"), "properties"), "info");
  std::string_view parent = json.string(info, "parentID"), id = json.string(info, "id");
  if (!concerns_us(parent) || id.empty() || id.size() > kMaxAgentIdBytes || children_.size() >= kMaxOpenCalls) return;
  children_.try_emplace(std::string(id));  // the call says which session it started
}

std::string OpenCodeServer::parent_call() const {
  const JsonSlices& json = events_.json();
  auto child = children_.find(json.string(json.find(json.find("event"), "properties"), "sessionID"));
  return child == children_.end() ? "" : child->second;
}

void OpenCodeServer::session_status(const JsonNode& status, Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view type = json.string(status, "type");
  if (type == "busy") return begin_turn(out);
  if (type == "idle") return end_turn(out);
  if (type != "retry") return events_.unknown(out, "session.status/" + std::string(type));
  begin_turn(out);
  auto attempt = count_of(json.find(status, "attempt")).value_or(0);
  std::string text = "The model's API failed: " + one_line(json.string(status, "message"), kTextSummaryCharacters / 2) +
                     "; retry " + std::to_string(attempt);
  std::string more = "\"attempt\":" + std::to_string(attempt);
  if (auto next = count_of(json.find(status, "next"))) text += in_seconds(events_.at_ms(), *next);
  events_.error(out, "api_retry", text, false, more);
}

void OpenCodeServer::begin_turn(Actions& out) {
  if (hints_.turn == Hints::Turn::running || hints_.turn == Hints::Turn::waiting) return;
  hints_.turn = Hints::Turn::running;
  hints_.interrupted = false;
  usage_told_ms_ = events_.now_ms();
  std::uint64_t turn = hints_.turns + 1;
  events_.status(out, "Turn " + std::to_string(turn) + " started", "running", "\"turn\":" + std::to_string(turn));
}

// It says so twice, and again when it is asked to stop while it does nothing.
void OpenCodeServer::end_turn(Actions& out) {
  if (!in_turn()) return;
  hints_.turn = Hints::Turn::idle;
  ++hints_.turns;
  bool aborted = std::exchange(aborted_, false);
  hints_.interrupted = aborted;
  expire_all(out);
  tell_usage(true, out);
  ending_ = Ending{failure_.empty() && !aborted, aborted,
                   aborted            ? std::string("interrupted")
                   : failure_.empty() ? last_text_
                                      : failure_};
  if (ending_->good) failure_code_.clear();
  failure_.clear();
  if (aborted) events_.status(out, "Interrupted", "interrupted");
  std::erase_if(words_, [](const Word& word) { return word.taken_up; });
  if (!aborted) release_held(out);
}

void OpenCodeServer::tell_usage(bool ended, Actions& out) {
  if (!usage_.any() || (!ended && !usage_.has_untold())) return;
  usage_told_ms_ = events_.now_ms();
  hints_.cost_usd = usage_.cost_usd();
  if (ended) {
    return usage_.tell(events_, hints_.turns, tools_.calls(),
                       "Turn " + std::to_string(hints_.turns) + " ended" + usage_.shown_cost(), "", out);
  }
  usage_.tell(events_, hints_.turns, tools_.calls(), "In the middle of a turn" + usage_.shown_cost(),
              R"("partial":true)", out);
}

void OpenCodeServer::session_error(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& properties = json.find(json.find("event"), "properties");
  OpenCodeError error = opencode_error(json, json.find(properties, "error"));
  bool ours = is_ours(json.string(properties, "sessionID"));
  if (error.aborted) {
    aborted_ = aborted_ || (ours && in_turn());
    return;
  }
  if (ours) {
    failure_ = event_text(error.message);
    failure_code_ = error.code.substr(0, kMaxAgentIdBytes);
  }
  events_.error(out, error.code, (ours ? "The turn failed: " : "A sub-agent failed: ") + error.message, false,
                error.members);
}

void OpenCodeServer::message_updated(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& info = json.find(json.find(json.find("event"), "properties"), "info");
  std::string id(json.string(info, "id").substr(0, kMaxAgentIdBytes));
  bool user = json.string(info, "role") == "user";
  auto [place, added] = messages_.try_emplace(id);
  if (added) {
    place->second = {user, std::string(json.string(info, "modelID").substr(0, kMaxAgentIdBytes))};
    message_order_.push_back(id);
    if (message_order_.size() > kOpenMessages) {
      messages_.erase(message_order_.front());
      message_order_.pop_front();
    }
  }
  if (!added || !is_ours(json.string(json.find(json.find("event"), "properties"), "sessionID"))) return;
  if (user) {
    for (Word& word : words_) {
      if (!word.message_id.empty()) continue;
      word.message_id = id;
      break;
    }
    return;
  }
  // It answers this message now, and with it those before.
  std::string_view answered = json.string(info, "parentID");
  bool known = std::ranges::any_of(words_, [&](const Word& word) { return word.message_id == answered; });
  for (Word& word : words_) {
    if (!known) break;
    if (!std::exchange(word.taken_up, true) && !word.command_id.empty()) {
      out.settle({word.command_id, CommandState::acknowledged, ""});
    }
    if (word.message_id == answered) break;
  }
}

bool OpenCodeServer::told(std::string_view part_id) {
  if (part_id.empty() || told_.find(part_id) != nullptr) return true;
  told_.open(part_id, {});
  return false;
}

void OpenCodeServer::part_updated(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& properties = json.find(json.find("event"), "properties");
  const JsonNode& part = json.find(properties, "part");
  std::string_view type = json.string(part, "type");
  if (auto time = count_of(json.find(properties, "time"))) events_.set_time(static_cast<std::int64_t>(*time));
  auto message = messages_.find(json.string(part, "messageID"));
  bool user = message != messages_.end() && message->second.user;
  if (type == "text" && user) return user_words(part, out);
  if (type == "text" || type == "reasoning") return words(part, out);
  if (type == "tool") {
    const JsonNode& metadata = json.find(json.find(part, "state"), "metadata");
    auto child = children_.find(json.string(metadata, "sessionId"));
    if (child != children_.end() && child->second.empty()) child->second = json.string(part, "callID");
    tools_.part(events_, part, parent_call(), cwd_, out);
    return;
  }
  if (type == "step-finish") {
    if (told(json.string(part, "id"))) return;
    usage_.step(json, part, message == messages_.end() ? "" : message->second.model);
    hints_.cost_usd = usage_.cost_usd();
    if (in_turn() && events_.now_ms() - usage_told_ms_ >= kUsagePause.count()) tell_usage(false, out);
    return;
  }
  for (std::string_view known :
       {"step-start", "snapshot", "patch", "agent", "file", "retry", "compaction", "subtask"}) {
    if (type == known) return;
  }
  events_.unknown(out, "part/" + std::string(type));
}

// A message to the model as it is kept, by an operator or by the agent itself.
void OpenCodeServer::user_words(const JsonNode& part, Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view text = json.string(part, "text"), id = json.string(part, "id");
  if (text.empty() || told(id)) return;
  std::string_view kept = event_text(text);
  std::string parent = parent_call();
  std::string data = object_text([&](JsonObject& object) {
    object.text("role", "user");
    object.text("content", kept);
    if (is_true(json.find(part, "synthetic"))) object.flag("synthetic", true);
  });
  EventParts parts = events_.step(EventType::message);
  std::string summary = one_line(opencode_shown_text(kept), kTextSummaryCharacters);
  if (summary.empty()) summary = "(blanks)";
  parts.summary = summary;
  parts.data = data;
  parts.event_id = id;
  parts.parent_call_id = parent;
  Detail detail;
  mark_cut(parts, detail, kept, text);
  events_.emit(out, parts, std::move(detail));
}

void OpenCodeServer::words(const JsonNode& part, Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view id = json.string(part, "id");
  const JsonNode& time = json.find(part, "time");
  auto start = count_of(json.find(time, "start")), end = count_of(json.find(time, "end"));
  if (!end) {  // it grows
    if (texts_.size() < kOpenMessages && id.size() <= kMaxAgentIdBytes) texts_.try_emplace(std::string(id), true);
    return;
  }
  if (auto grown = texts_.find(id); grown != texts_.end()) texts_.erase(grown);
  if (told(id)) return;
  std::string_view text = json.string(part, "text");
  std::string parent = parent_call();
  bool is_text = json.string(part, "type") == "text";
  if (is_text && parent.empty()) last_text_ = event_text(text);
  std::optional<std::int64_t> took;
  if (start && *end >= *start) took = static_cast<std::int64_t>(*end - *start);
  events_.said(out, {is_text ? "text" : "reasoning", text, id, parent, took});
}

void OpenCodeServer::part_delta(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& properties = json.find(json.find("event"), "properties");
  std::string_view text = json.string(properties, "delta"), part = json.string(properties, "partID");
  if (json.string(properties, "field") != "text" || !texts_.contains(part)) return;
  if (text.empty() || text.size() > kMaxDeltaBytes / 8) return;  // escaping may make six bytes of one
  out.delta({std::string(part), std::string(text)});
}

}  // namespace shepherd
