#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "driver/codex/codex.h"
#include "driver/codex/rollout.h"
#include "json/scan.h"
#include "model/limits.h"

namespace shepherd {

// A line of a session's file: {"timestamp","type","payload"}. What the model was given and said (response_item) stands
// there too, as the items of event_msg say it again for people.
void Codex::rollout_record(Actions& out) {
  auto time = parse_timestamp(record_.string("timestamp"));
  if (time && *time > 0 && *time <= kMaxTimestampMs) at_ms_ = *time;
  const JsonNode& payload = record_.find("payload");
  std::string_view type = record_.string("type");
  std::string_view event = record_.string(payload, "type");
  if (type == "session_meta") return begin_session(payload, out);
  if (type == "turn_context") {
    model_ = record_.string(payload, "model").substr(0, kMaxAgentIdBytes);
    return;
  }
  if (type != "event_msg") return;
  if (event == "task_started" || event == "turn_started") {
    turn_started(payload, out);
    lives_ = false;  // a file says nothing live
  } else if (event == "item_completed") {
    item(record_.find(payload, "item"), true, out);
  } else if (event == "token_count") {
    const JsonNode& total = record_.find(record_.find(payload, "info"), "total_token_usage");
    if (total.kind == JsonKind::object) usage_.api_call();
    usage_.total(record_, total);
  } else if (event == "task_complete" || event == "turn_complete" || event == "turn_aborted") {
    std::optional<std::int64_t> took;
    if (auto ms = count_of(record_.find(payload, "duration_ms"))) took = static_cast<std::int64_t>(*ms);
    bool failed = !last_error_.empty();
    end_turn(event == "turn_aborted" ? "interrupted" : failed ? "failed" : "completed", took, out);
  } else if (event == "error") {
    fatal(record_.string(payload, "message"), "agent_failed", std::nullopt, out);
  } else if (event == "stream_error") {
    retry(record_.string(payload, "message"), record_.string(payload, "additional_details"), std::nullopt, out);
  } else if (event == "context_compacted") {
    status(out, "Conversation compacted", "", R"("compact":{})");
  }
}

namespace {

// Threads: caller.
class RolloutReader {
 public:
  ImportedSession read(const std::vector<std::string>& lines) {
    session_.agent = "codex";
    Launch launch;
    launch.id = "import";
    launch.prompt = "recorded";
    if (!driver_.launch(launch)) return std::move(session_);
    for (const std::string& line : lines) take(line);
    Actions rest;
    Verdict verdict = driver_.finish({}, session_.last_ms, rest);
    add_events(session_, std::move(rest));
    if (session_.events.empty()) return std::move(session_);
    session_.session_id = driver_.hints().session_id;
    name_the_nameless(session_);
    conclude(verdict);
    return std::move(session_);
  }

 private:
  void take(const std::string& line) {
    if (auto time = parse_timestamp(text_member(line, "timestamp"))) {
      if (session_.first_ms == 0) session_.first_ms = *time;
      session_.last_ms = std::max(session_.last_ms, *time);
    }
    std::string_view payload = find_member(line, "payload");
    if (session_.cwd.empty()) session_.cwd = text_member(payload, "cwd");
    if (std::string model = text_member(payload, "model"); !model.empty()) session_.model = model;
    Actions out;
    driver_.record(line, session_.last_ms, out);
    for (const DriverEvent& event : out.events()) {
      if (event.type != EventType::message || !session_.prompt.empty()) continue;
      session_.prompt = text_member(find_member(event.json, "data"), "content");
    }
    add_events(session_, std::move(out));
  }

  void conclude(const Verdict& verdict) {
    session_.state = verdict.state;
    if (driver_.hints().turn == Hints::Turn::running) {
      session_.state = State::failed;
      session_.message = "The session's file breaks off in the middle of a turn";
    } else if (verdict.state == State::cancelled) {
      session_.message = "Interrupted";
    } else {
      session_.message = verdict.state == State::failed ? "The session ended with an error" : "Session ended";
    }
  }

  Codex driver_;
  ImportedSession session_;
};

}  // namespace

ImportedSession read_codex_rollout(const std::vector<std::string>& lines) {
  return RolloutReader().read(lines);
}

}  // namespace shepherd
