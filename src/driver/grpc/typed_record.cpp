#include "driver/grpc/typed_record.h"

#include <google/protobuf/util/json_util.h>

#include "driver/grpc/record.h"
#include "driver/grpc/typed_value.h"
#include "gibson/agent.pb.h"
#include "gibson/typed_agent.pb.h"
#include "json/scan.h"

namespace shepherd {
namespace {

namespace typed = gibson::typed_agent;
using gibson::agent::AgentMessage;

constexpr std::string_view kErrorPrefix = "ERROR_CODE_";

// "ERROR_CODE_TOOL_TIMEOUT" is TOOL_TIMEOUT, as agents of the JSON dialect say it.
std::string error_code(typed::ErrorCode code) {
  if (code == typed::ERROR_CODE_UNSPECIFIED) return {};
  const std::string& name = typed::ErrorCode_Name(code);
  return name.empty() ? "CODE_" + std::to_string(static_cast<int>(code)) : name.substr(kErrorPrefix.size());
}

void translate_payload(const typed::AgentMessage& from, AgentMessage& to) {
  switch (from.payload_case()) {
    case typed::AgentMessage::kOutput:
      to.mutable_output()->set_content(from.output().content());
      to.mutable_output()->set_is_reasoning(from.output().is_reasoning());
      break;
    case typed::AgentMessage::kToolCall:
      to.mutable_tool_call()->set_tool_name(from.tool_call().tool_name());
      to.mutable_tool_call()->set_call_id(from.tool_call().call_id());
      append_typed_entries(*to.mutable_tool_call()->mutable_input_json(), from.tool_call().input());
      break;
    case typed::AgentMessage::kToolResult:
      to.mutable_tool_result()->set_call_id(from.tool_result().call_id());
      to.mutable_tool_result()->set_success(from.tool_result().success());
      if (from.tool_result().has_output()) {
        append_typed_value(*to.mutable_tool_result()->mutable_output_json(), from.tool_result().output());
      }
      break;
    case typed::AgentMessage::kFinding:
      to.mutable_finding()->set_finding_json(typed_finding_json(from.finding().finding()));
      break;
    case typed::AgentMessage::kStatus:
      to.mutable_status()->set_status(static_cast<gibson::agent::AgentStatus>(from.status().status()));
      to.mutable_status()->set_message(from.status().message());
      break;
    case typed::AgentMessage::kSteeringAck:
      to.mutable_steering_ack()->set_message_id(from.steering_ack().message_id());
      to.mutable_steering_ack()->set_response(from.steering_ack().response());
      break;
    case typed::AgentMessage::kError:
      to.mutable_error()->set_code(error_code(from.error().code()));
      to.mutable_error()->set_message(from.error().message());
      to.mutable_error()->set_fatal(from.error().fatal());
      break;
    case typed::AgentMessage::PAYLOAD_NOT_SET:
      break;
  }
}

// Whether the two dialects have the same JSON form of such a message.
bool is_same_in_both(const AgentMessage& message) {
  return message.has_output() || message.has_status() || message.has_steering_ack();
}

}  // namespace

void translate_typed(const typed::AgentMessage& typed, AgentMessage& message) {
  message.Clear();
  translate_payload(typed, message);
  message.set_trace_id(typed.trace_id());
  message.set_span_id(typed.span_id());
  message.set_sequence(typed.sequence());
  message.set_timestamp_ms(typed.timestamp_ms());
}

bool read_typed_message(std::string_view record, AgentMessage& message, std::string& json) {
  mute_protocol_buffers();
  typed::AgentMessage typed;
  if (!record.starts_with('{')) {
    if (!typed.ParseFromArray(record.data(), static_cast<int>(record.size()))) return false;
  } else {
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    if (!google::protobuf::util::JsonStringToMessage({record.data(), record.size()}, &typed, options).ok()) {
      return false;
    }
  }
  translate_typed(typed, message);
  if (is_same_in_both(message)) {  // the usual case, and much faster
    json = agent_message_json(message);
    return true;
  }
  json.clear();
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  return google::protobuf::util::MessageToJsonString(typed, &json, options).ok();
}

bool is_typed_record(std::string_view record) {
  auto has = [&](std::string_view payload, std::string_view member) {
    return !find_member(find_member(record, payload), member).empty();
  };
  return has("tool_call", "input") || has("tool_result", "output") || has("finding", "finding") ||
         text_member(find_member(record, "error"), "code").starts_with(kErrorPrefix);
}

}  // namespace shepherd
