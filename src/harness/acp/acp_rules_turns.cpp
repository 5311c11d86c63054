// Rules about sessions, their updates and their turns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "harness/acp/acp_rules.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

// Updates that are the work of a turn. Others (commands, titles, usage, modes) may come at any time.
bool is_work(std::string_view kind) {
  return kind == "agent_message_chunk" || kind == "agent_thought_chunk" || kind == "tool_call" ||
         kind == "tool_call_update" || kind == "plan";
}

// The requests of one method, by their ids, and what they were about.
class Requests {
 public:
  explicit Requests(std::string_view method) : method_(method) {}

  // The request that this line is; nullptr if it is none.
  const json::object* request(const AcpLine& line) {
    const json::object* message = line.object();
    if (line.from_agent || message == nullptr || member_string(*message, "method") != method_) return nullptr;
    const json::object* params = member_object(*message, "params");
    if (params != nullptr && message->contains("id")) {
      sessions_[json::serialize(message->at("id"))] = member_string(*params, "sessionId");
    }
    return params;
  }

  // The session of the request that this line answers; nullptr if it answers none.
  const std::string* answered(const AcpLine& line) const {
    const json::object* message = line.object();
    if (!line.from_agent || message == nullptr || message->contains("method") || !message->contains("id")) return {};
    auto found = sessions_.find(json::serialize(message->at("id")));
    return found == sessions_.end() ? nullptr : &found->second;
  }

 private:
  std::string_view method_;
  std::map<std::string, std::string> sessions_;
};

// The parameters of a session/update or of a permission request of the agent; nullptr for other lines.
const json::object* said_of_session(const AcpLine& line) {
  const json::object* message = line.object();
  if (!line.from_agent || message == nullptr) return nullptr;
  std::string_view method = member_string(*message, "method");
  if (method != "session/update" && method != "session/request_permission") return nullptr;
  return member_object(*message, "params");
}

std::set<std::string, std::less<>> sessions_of(const AcpTranscript& transcript) {
  std::set<std::string, std::less<>> known;
  for (const AcpLine& line : transcript) {
    const json::object* message = line.object();
    const json::object* result = line.from_agent && message != nullptr ? member_object(*message, "result") : nullptr;
    if (result != nullptr && !member_string(*result, "sessionId").empty()) {
      known.emplace(member_string(*result, "sessionId"));
    }
  }
  return known;
}

}  // namespace

void check_acp_updates(const AcpTranscript& transcript, Report& report) {
  auto known = sessions_of(transcript);
  bool seen = false;
  for (const AcpLine& line : transcript) {
    const json::object* params = said_of_session(line);
    if (params == nullptr) continue;
    seen = true;
    std::string_view session = member_string(*params, "sessionId");
    if (!known.contains(session)) {
      report.fail("updates", "unknown_session_id",
                  fmt::format("{}: no session/new was answered with this sessionId", quote_of(line.text)));
    }
    if (member_string(*line.object(), "method") != "session/update") continue;
    const json::object* update = member_object(*params, "update");
    std::string_view kind = update == nullptr ? std::string_view() : member_string(*update, "sessionUpdate");
    if (kind.empty()) {
      report.fail("updates", "update_malformed",
                  fmt::format("{}: it has no update.sessionUpdate", quote_of(line.text)));
    } else if (kind.ends_with("_chunk")) {
      const json::object* content = member_object(*update, "content");
      if (content == nullptr || member_string(*content, "type").empty()) {
        report.fail("updates", "content_malformed",
                    fmt::format("{}: the content of a chunk is one block with a type", quote_of(line.text)));
      }
    }
  }
  if (seen) report.pass("updates");
}

void check_acp_turns(const AcpTranscript& transcript, Report& report) {
  Requests prompts("session/prompt");
  std::map<std::string, int, std::less<>> open;  // turns by session
  std::set<std::string, std::less<>> had_turn;
  for (const AcpLine& line : transcript) {
    if (const json::object* params = prompts.request(line)) {
      std::string session(member_string(*params, "sessionId"));
      ++open[session];
      had_turn.insert(session);
    } else if (const std::string* session = prompts.answered(line)) {
      if (open[*session] > 0) --open[*session];
      report.pass("turn_end");
    }
    const json::object* params = said_of_session(line);
    if (params == nullptr) continue;
    std::string_view session = member_string(*params, "sessionId");
    auto turns = open.find(session);
    if (turns != open.end() && turns->second > 0) continue;
    if (member_string(*line.object(), "method") == "session/request_permission") {
      report.fail("turn_end", "asked_outside_turn",
                  fmt::format("{}: it asks for a permission although no prompt runs", quote_of(line.text)));
      continue;
    }
    const json::object* update = member_object(*params, "update");
    if (update != nullptr && had_turn.contains(session) && is_work(member_string(*update, "sessionUpdate"))) {
      report.fail("turn_end", "update_after_answer",
                  fmt::format("{}: the prompt had been answered; send all updates of a turn before its answer",
                              quote_of(line.text)));
    }
  }
}

void check_acp_stop_reasons(const AcpTranscript& transcript, Report& report) {
  constexpr std::array<std::string_view, 5> kReasons{"end_turn", "max_tokens", "max_turn_requests", "refusal",
                                                     "cancelled"};
  Requests prompts("session/prompt");
  std::set<std::string, std::less<>> cancelled;
  for (const AcpLine& line : transcript) {
    const json::object* message = line.object();
    if (!line.from_agent && message != nullptr && member_string(*message, "method") == "session/cancel") {
      cancelled.emplace(member_string(message->at("params").as_object(), "sessionId"));
    }
    prompts.request(line);
    const std::string* session = prompts.answered(line);
    if (session == nullptr || message->contains("error")) continue;
    const json::object* result = member_object(*message, "result");
    std::string_view reason = result == nullptr ? std::string_view() : member_string(*result, "stopReason");
    if (reason.empty()) {
      report.fail("stop_reason", "stop_reason_missing",
                  fmt::format("{}: a prompt is answered with a stopReason", quote_of(line.text)));
    } else if (std::ranges::find(kReasons, reason) == kReasons.end()) {
      report.fail("stop_reason", "stop_reason_unknown",
                  fmt::format("{} is none of {}", quote_of(reason), fmt::join(kReasons, ", ")));
    } else if (reason == "cancelled" && !cancelled.contains(*session)) {
      report.fail("stop_reason", "cancelled_by_itself",
                  fmt::format("{}: the client had not cancelled this turn", quote_of(line.text)));
    } else {
      report.pass("stop_reason");
    }
  }
}

}  // namespace shepherd::harness
