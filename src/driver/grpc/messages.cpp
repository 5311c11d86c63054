// What the messages of a streaming agent become.
#include <algorithm>
#include <cctype>
#include <utility>

#include "driver/grpc/grpc_agent.h"
#include "driver/grpc/record.h"
#include "driver/limits.h"
#include "gibson/agent.pb.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

using gibson::agent::AgentMessage;

// The first text among an object's members: what a person would want to know of a call.
std::string first_text(std::string_view object) {
  JsonMembers members(object);
  while (members.next()) {
    if (auto text = string_value(members.value()); text && !text->empty()) return *std::move(text);
  }
  return {};
}

// The members of a finding that have a meaning of their own.
struct FindingMember {
  std::string_view name;
  std::string_view shown;  // events have one name for it, however the agent's language spells it
  char begin;              // of the only kind of value it may have; '"': what is no text becomes one
};
constexpr FindingMember kFindingMembers[] = {
    {"id", "id", '"'},
    {"title", "title", '"'},
    {"description", "description", '"'},
    {"severity", "severity", '"'},
    {"category", "category", '"'},
    {"confidence", "confidence", '0'},
    {"mitre_techniques", "mitreTechniques", '['},
    {"mitreTechniques", "mitreTechniques", '['},
    {"evidence", "evidence", '['},
};

// What has the wrong kind of value is left to the record beside the event.
std::string finding_data(std::string_view object) {
  std::string out = object_text([&](JsonObject& data) {
    JsonMembers members(object);
    while (members.next()) {
      const auto* known = std::ranges::find(kFindingMembers, members.key(), &FindingMember::name);
      if (known == std::end(kFindingMembers)) {
        data.json(members.key(), members.value());
      } else if (known->begin == '"') {
        data.text(known->shown, string_value(members.value()).value_or(std::string(members.value())));
      } else if (members.value().starts_with(known->begin) || (known->begin == '0' && number_value(members.value()))) {
        data.json(known->shown, members.value());
      }
    }
  });
  return out;
}

}  // namespace

EventParts GrpcAgent::step(EventType type) const {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = at_ms_;
  parts.trace_id = message_->trace_id();
  parts.span_id = message_->span_id();
  return parts;
}

void GrpcAgent::dispatch(std::string_view record, Actions& out) {
  if (message_->payload_case() == AgentMessage::kOutput) return output(out);
  joined(chunks_.flush(), out);
  switch (message_->payload_case()) {
    case AgentMessage::kToolCall:
      return tool_call(out);
    case AgentMessage::kToolResult:
      return tool_result(out);
    case AgentMessage::kFinding:
      return finding(out);
    case AgentMessage::kStatus:
      return status(out);
    case AgentMessage::kSteeringAck:
      return steering_ack(out);
    case AgentMessage::kError:
      return error(out);
    default:
      return not_protocol(record, "A message of the agent of a kind that is not known here", out);
  }
}

void GrpcAgent::output(Actions& out) {
  const auto& chunk = message_->output();
  if (chunk.content().empty()) {
    ++hints_.passed_over;
    return;
  }
  joined(chunks_.add({chunk.content(), chunk.is_reasoning(), message_->trace_id(), message_->span_id(), json_}, at_ms_,
                     now_ms_),
         out);
  // Escaping may make six bytes of one.
  if (deltas_ && chunk.content().size() <= kMaxDeltaBytes / 8) out.delta({chunks_.block(), chunk.content()});
}

void GrpcAgent::joined(const std::optional<JoinedChunks>& chunks, Actions& out) {
  if (!chunks || chunks->text.find_first_not_of(" \t\r\n") == std::string::npos) return;
  std::string_view kept = event_text(chunks->text);
  if (!chunks->reasoning) last_text_ = one_line(kept, kMaxSummaryCharacters);
  std::string data = object_text([&](JsonObject& object) {
    if (chunks->reasoning) object.text("kind", "reasoning");
    object.text("text", kept);
  });
  EventParts parts;
  parts.type = chunks->reasoning ? EventType::thinking : EventType::output;
  parts.timestamp_ms = chunks->at_ms;
  std::string summary = one_line(kept, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  parts.trace_id = chunks->trace_id;
  parts.span_id = chunks->span_id;
  Detail detail;
  mark_cut(parts, detail, kept, chunks->text);
  add_event(out, parts, detail.raw_json(chunks->records).take());
}

void GrpcAgent::tool_call(Actions& out) {
  const auto& call = message_->tool_call();
  OpenCall opened;
  opened.tool = call.tool_name();
  opened.started_ms = at_ms_;
  calls_.open(call.call_id(), std::move(opened));
  std::string input = as_json_object(call.input_json());
  std::string summary = "Using " + (call.tool_name().empty() ? "a tool" : call.tool_name());
  if (std::string what = first_text(input); !what.empty()) summary += ": " + what;
  summary = one_line(summary, kTextSummaryCharacters);
  EventParts parts = step(EventType::tool_call);
  parts.summary = summary;
  parts.tool = call.tool_name();
  parts.input = input;
  parts.call_id = call.call_id();
  add_event(out, parts, Detail().raw_json(json_).take());
}

void GrpcAgent::tool_result(Actions& out) {
  const auto& result = message_->tool_result();
  std::optional<OpenCall> call = calls_.close(result.call_id());
  std::string tool = call ? call->tool : "";
  std::string output = output_json(result.success() ? Outcome::success : Outcome::failed, result.output_json());
  std::string summary = tool.empty() ? "A tool" : tool;
  summary += result.success() ? " succeeded" : " failed";
  if (!result.success()) {
    if (std::string why = first_text(as_json_object(result.output_json())); !why.empty()) summary += ": " + why;
    summary = one_line(summary, kTextSummaryCharacters);
  }
  EventParts parts = step(EventType::tool_result);
  parts.summary = summary;
  parts.tool = tool;
  parts.output = output;
  parts.call_id = result.call_id();
  if (call) parts.duration_ms = std::max<std::int64_t>(at_ms_ - call->started_ms, 0);
  if (!call) parts.data = R"({"unknownCall":true})";
  add_event(out, parts, Detail().raw_json(json_).take());
}

void GrpcAgent::finding(Actions& out) {
  std::string found = as_json_object(message_->finding().finding_json());
  std::string data = finding_data(found);
  std::string title = string_value(find_member(found, "title")).value_or("");
  if (title.empty()) title = first_text(found);
  std::string severity = string_value(find_member(found, "severity")).value_or("");
  std::string summary = severity.empty() ? "Finding" : "Finding (" + severity + ")";
  if (!title.empty()) summary += ": " + title;
  EventParts parts = step(EventType::finding);
  parts.summary = summary;
  parts.data = data;
  add_event(out, parts, Detail().raw_json(json_).take());
}

void GrpcAgent::error(Actions& out) {
  const auto& told = message_->error();
  std::string summary = told.code();
  if (!told.message().empty()) summary += (summary.empty() ? "" : ": ") + told.message();
  if (summary.empty()) summary = "An error";
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("code", event_text(told.code()));
    object.text_unless_empty("message", event_text(told.message()));
    object.flag("fatal", told.fatal());
    object.flag("recoverable", !told.fatal());
  });
  EventParts parts = step(EventType::error);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, event_text(told.message()), told.message());
  add_event(out, parts, detail.raw_json(json_).take());
  if (!told.fatal()) return;
  // The agent is done; it may say so, but need not.
  fatal_ = one_line(summary, kMaxSummaryCharacters);
  hints_.turn = Hints::Turn::idle;
  hints_.turns = 1;
}

void GrpcAgent::status(Actions& out) {
  struct Meaning {
    Said said;
    std::string_view state;  // of the task; empty: the end is told by the runner, once the stream has ended
    std::string_view word;
    Hints::Turn turn;
  };
  auto meaning = [&]() -> std::optional<Meaning> {
    switch (message_->status().status()) {
      case gibson::agent::AGENT_STATUS_RUNNING:
        return Meaning{Said::running, "running", "running", Hints::Turn::running};
      case gibson::agent::AGENT_STATUS_PAUSED:
        return Meaning{Said::waiting, "paused", "paused", Hints::Turn::waiting};
      case gibson::agent::AGENT_STATUS_WAITING_FOR_INPUT:
        return Meaning{Said::waiting, "waiting_for_input", "waiting for input", Hints::Turn::waiting};
      case gibson::agent::AGENT_STATUS_INTERRUPTED:
        return Meaning{Said::interrupted, "interrupted", "interrupted", Hints::Turn::waiting};
      case gibson::agent::AGENT_STATUS_COMPLETED:
        return Meaning{Said::completed, "", "completed", Hints::Turn::idle};
      case gibson::agent::AGENT_STATUS_FAILED:
        return Meaning{Said::failed, "", "failed", Hints::Turn::idle};
      default:
        return std::nullopt;
    }
  }();
  if (!meaning) return not_protocol(json_, "A status of the agent that is not known here", out);
  const std::string& words = message_->status().message();
  std::string data = object_text([&](JsonObject& object) {
    if (!meaning->state.empty()) object.text("state", meaning->state);
    object.text("agentState", meaning->word);
    object.text_unless_empty("message", event_text(words));
  });
  std::string summary(meaning->word);
  summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
  if (!words.empty()) summary.append(": ").append(words);
  EventParts parts = step(EventType::status);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, event_text(words), words);
  add_event(out, parts, detail.raw_json(json_).take());

  // Agents that pause for an interrupt say INTERRUPTED when they were not resumed and their work is over.
  bool gave_up = meaning->said == Said::interrupted && paused_;
  paused_ = meaning->state == "paused";
  said_ = meaning->said;
  last_status_ = one_line(words, kMaxSummaryCharacters);
  hints_.turn = gave_up ? Hints::Turn::idle : meaning->turn;  // the runner then ends our side of the stream
  hints_.interrupted = said_ == Said::interrupted && !gave_up;
  bool over = said_ == Said::completed || said_ == Said::failed;
  if (over || gave_up) hints_.turns = 1;
  // Waiting for input is no answer to an interrupt: it may have been said before the interrupt arrived.
  if (meaning->state == "interrupted" || meaning->state == "paused") settle(CommandKind::interrupt, out);
  if (said_ == Said::running || over) settle(CommandKind::resume, out);
  // It has put its work down and waits for the end of the stream.
  if (stopping_ && (said_ == Said::interrupted || over)) out.close_input();
}

}  // namespace shepherd
