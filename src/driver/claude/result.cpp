#include <cstdio>

#include "driver/claude/claude_code.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/wire_json.h"

namespace shepherd {

// What went wrong in the turn, in the agent's words.
std::string ClaudeCode::failure_text() const {
  std::string_view text = record_.string("result");
  if (text.empty()) {
    const JsonNode* first = record_.first(record_.find("errors"));
    if (first != nullptr) text = first->text;
  }
  if (!text.empty()) return std::string(text);
  std::string_view subtype = record_.string("subtype");
  if (subtype == "error_max_turns") return "Reached the maximum number of turns";
  return "The turn ended with " + std::string(subtype.empty() ? "an error" : subtype);
}

std::string ClaudeCode::usage_summary() const {
  std::string text = "Turn " + std::to_string(usage_.results()) + " ended";
  // A turn that failed before it asked the model has cost nothing; one that was cut off may not say what it cost.
  constexpr double kLeastShownUsd = 0.00005;
  if (auto cost = usage_.cost_usd(); cost && *cost >= kLeastShownUsd) {
    char number[32];
    std::snprintf(number, sizeof number, "%.4f", *cost);
    text.append("; $").append(number).append(" so far");
  }
  return text;
}

// One per finished turn. The last of a process is not its end: background work can start another turn.
void ClaudeCode::result(Actions& out) {
  usage_.result(record_);
  hints_.cost_usd = usage_.cost_usd();
  std::string_view subtype = record_.string("subtype");
  bool failed = is_true(record_.find("is_error")) || subtype != "success";
  std::string_view reason = record_.string("terminal_reason");
  bool aborted = reason.starts_with("aborted") && failed;
  std::string_view text = record_.string("result");

  // Only when no message has said it before: batch formats, structured output.
  if (!failed && !text.empty() && text != last_text_) {
    std::string_view kept = event_text(text);
    std::string data = object_text([&](JsonObject& object) { object.text("text", kept); });
    EventParts parts = step(EventType::output);
    std::string summary = one_line(kept, kTextSummaryCharacters);
    parts.summary = summary;
    parts.data = data;
    Detail detail;
    mark_cut(parts, detail, kept, text);
    emit(out, parts, std::move(detail));
  }
  EventParts usage = step(EventType::usage);
  std::string summary = usage_summary();
  std::string data = usage_.data(record_);
  usage.summary = summary;
  usage.data = data;
  if (auto took = count_of(record_.find("duration_ms"))) usage.duration_ms = static_cast<std::int64_t>(*took);
  emit(out, usage);

  Ending ending;
  ending.good = !failed;
  ending.aborted = aborted;
  std::string why = failed ? failure_text() : "";
  ending.text = event_text(failed ? std::string_view(why) : text);
  if (failed && !aborted && why != last_error_) {
    std::string_view code = record_.string("api_error_type");
    if (code.empty() && subtype == "success") code = "api_error";
    if (code.empty()) code = subtype;
    std::string error = object_text([&](JsonObject& object) {
      object.text("code", code.empty() ? "unknown" : code.substr(0, kMaxAgentIdBytes));
      object.flag("fatal", true);
      object.flag("recoverable", false);
      if (auto http = count_of(record_.find("api_error_status"))) object.number("status", *http);
      object.text_unless_empty("terminalReason", reason.substr(0, kMaxAgentIdBytes));
      if (characters_in(why) > kTextSummaryCharacters) object.text("message", event_text(why));
    });
    EventParts parts = step(EventType::error);
    std::string line = one_line(why, kTextSummaryCharacters);
    parts.summary = line;
    parts.data = error;
    emit(out, parts);
  }
  ending_ = std::move(ending);
  last_error_.clear();
  end_turn(aborted, out);
}

void ClaudeCode::end_turn(bool aborted, Actions& out) {
  hints_.turn = Hints::Turn::idle;
  turn_announced_ = false;
  ++hints_.turns;
  hints_.interrupted = aborted;
  if (aborted) status(out, "Interrupted", "interrupted");
  release_held(out);
}

// What a running turn has used so far, when that is due. What it costs is known when the agent says it.
void ClaudeCode::tell_usage(Actions& out) {
  auto due = usage_due_ms();
  if (!due || *due > now_ms_) return;
  usage_told_ms_ = now_ms_;
  std::string data = usage_.tell_so_far();
  std::string summary = std::to_string(usage_.tokens()) + " tokens so far";
  EventParts parts;
  parts.type = EventType::usage;
  parts.timestamp_ms = now_ms_;
  parts.session_id = hints_.session_id;
  parts.summary = summary;
  parts.data = data;
  add_event(out, parts);
}

std::optional<std::int64_t> ClaudeCode::usage_due_ms() const {
  if (!in_turn() || !usage_.has_untold() || !lives_) return std::nullopt;
  return usage_told_ms_ + kUsagePause.count();
}

// A transcript's last line: the totals of its session.
void ClaudeCode::cost_state(Actions& out) {
  usage_.totals(record_);
  hints_.cost_usd = usage_.cost_usd();
  hints_.turn = Hints::Turn::idle;
  EventParts parts = step(EventType::usage);
  std::string data = usage_.data(record_);
  parts.summary = "Totals of the session";
  parts.data = data;
  emit(out, parts);
}

}  // namespace shepherd
