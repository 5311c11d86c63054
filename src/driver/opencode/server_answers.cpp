#include <utility>

#include "driver/limits.h"
#include "driver/opencode/opencode_server.h"
#include "json/write.h"

namespace shepherd {

// An answer to a request of ours; of a recording's requests only the session is of interest.
void OpenCodeServer::answered(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& answer = json.find("answer");
  auto status = count_of(json.find(answer, "status")).value_or(0);
  bool good = status >= 200 && status < 300;
  const JsonNode& body = json.find(answer, "body");
  auto found = requests_.find(json.string(answer, "id"));
  if (found == requests_.end()) {
    if (good && json.string(answer, "request") == "POST /session") session_opened(body, out);
    return;
  }
  Request request = std::move(found->second);
  requests_.erase(found);
  if (!good) {
    std::string why(json.string(answer, "error"));
    if (why.empty()) why = opencode_error(json, body).message;
    if (status != 0) why = "the service answered " + std::to_string(status) + ": " + why;
    return request_failed(request, one_line(why, kTextSummaryCharacters), out);
  }
  switch (request.what) {
    case Asked::session:
      return session_opened(body, out);
    case Asked::abort:
      if (!request.command_id.empty()) out.settle({request.command_id, CommandState::acknowledged, ""});
      if (request.stops) out.close_input();
      return;
    case Asked::prompt:
    case Asked::reply:
      return;  // its events say what comes of it
  }
}

void OpenCodeServer::session_opened(const JsonNode& body, Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view id = json.string(body, "id");
  if (!session_.empty() || id.empty() || id.size() > kMaxAgentIdBytes) return;
  session_ = id;
  events_.set_session(session_);
  hints_.session_id = session_;
  usage_told_ms_ = events_.now_ms();
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("cwd", json.string(body, "directory"));
    object.text_unless_empty("agentVersion", json.string(body, "version"));
    object.text_unless_empty("model", launched_.model);
  });
  EventParts parts = events_.step(EventType::session_start);
  parts.summary = launched_.resume_session.empty() ? "Session started" : "Session taken up again";
  parts.data = data;
  events_.emit(out, parts);
  cwd_ = json.string(body, "directory");
  if (stopping_) return out.close_input();
  if (prompt_.empty()) return;  // it was not launched for a task
  say("", prompt_, out);
  for (Command& early : std::exchange(held_, {})) say(early.id, early.content, out);
}

void OpenCodeServer::request_failed(const Request& request, std::string_view why, Actions& out) {
  if (!request.command_id.empty()) out.settle({request.command_id, CommandState::refused, std::string(why)});
  if (request.what == Asked::abort && request.stops) return out.close_input();
  bool first_prompt = request.what == Asked::prompt && request.command_id.empty();
  if (request.what != Asked::session && !first_prompt) return;
  hints_.turn = Hints::Turn::idle;
  ++hints_.turns;
  ending_ = Ending{false, false, std::string(why)};
  out.close_input();
}

}  // namespace shepherd
