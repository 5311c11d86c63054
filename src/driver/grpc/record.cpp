#include "driver/grpc/record.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include "gibson/agent.pb.h"
#include "json/read.h"
#include "json/write.h"

namespace shepherd {
namespace {

using gibson::agent::AgentMessage;

void append_flag(JsonObject& object, std::string_view key, bool value) {
  if (value) object.flag(key, true);
}

void append_payload(JsonObject& record, const AgentMessage& message) {
  auto part = [&](std::string_view key, auto fill) { write_object(record.member(key), fill); };
  switch (message.payload_case()) {
    case AgentMessage::kOutput: {
      part("output", [&](JsonObject& members) {
        members.text_unless_empty("content", message.output().content());
        append_flag(members, "is_reasoning", message.output().is_reasoning());
      });
      break;
    }
    case AgentMessage::kToolCall: {
      part("tool_call", [&](JsonObject& members) {
        members.text_unless_empty("tool_name", message.tool_call().tool_name());
        members.text_unless_empty("input_json", message.tool_call().input_json());
        members.text_unless_empty("call_id", message.tool_call().call_id());
      });
      break;
    }
    case AgentMessage::kToolResult: {
      part("tool_result", [&](JsonObject& members) {
        members.text_unless_empty("call_id", message.tool_result().call_id());
        members.text_unless_empty("output_json", message.tool_result().output_json());
        append_flag(members, "success", message.tool_result().success());
      });
      break;
    }
    case AgentMessage::kFinding: {
      part("finding",
           [&](JsonObject& members) { members.text_unless_empty("finding_json", message.finding().finding_json()); });
      break;
    }
    case AgentMessage::kStatus: {
      part("status", [&](JsonObject& members) {
        // As a number when the protocol has no name for it.
        const std::string& status = gibson::agent::AgentStatus_Name(message.status().status());
        if (status.empty()) {
          members.number("status", static_cast<std::int64_t>(message.status().status()));
        } else {
          members.text("status", status);
        }
        members.text_unless_empty("message", message.status().message());
      });
      break;
    }
    case AgentMessage::kSteeringAck: {
      part("steering_ack", [&](JsonObject& members) {
        members.text_unless_empty("message_id", message.steering_ack().message_id());
        members.text_unless_empty("response", message.steering_ack().response());
      });
      break;
    }
    case AgentMessage::kError: {
      part("error", [&](JsonObject& members) {
        members.text_unless_empty("code", message.error().code());
        members.text_unless_empty("message", message.error().message());
        append_flag(members, "fatal", message.error().fatal());
      });
      break;
    }
    case AgentMessage::PAYLOAD_NOT_SET:
      break;
  }
}

// The compact form of a JSON text; empty when it is none.
std::string compact_json(std::string_view text) {
  JsonParser parser(text.size());
  auto root = parser.parse(text);
  return root ? simdjson::minify(*root) : std::string();
}

}  // namespace

void mute_protocol_buffers() {
  [[maybe_unused]] static auto* const usual = google::protobuf::SetLogHandler(nullptr);
}

// No message begins with "{": that byte is a group of field 15, which protocol buffers of this age do not have.
bool read_agent_message(std::string_view record, AgentMessage& message) {
  mute_protocol_buffers();
  if (!record.starts_with('{')) return message.ParseFromArray(record.data(), static_cast<int>(record.size()));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  message.Clear();
  return google::protobuf::util::JsonStringToMessage({record.data(), record.size()}, &message, options).ok();
}

std::string agent_message_json(const AgentMessage& message) {
  std::string out = object_text([&](JsonObject& record) {
    append_payload(record, message);
    record.text_unless_empty("trace_id", message.trace_id());
    record.text_unless_empty("span_id", message.span_id());
    // 64-bit numbers are text in this form: many readers of JSON would round them.
    if (message.sequence() != 0) record.text("sequence", std::to_string(message.sequence()));
    if (message.timestamp_ms() != 0) record.text("timestamp_ms", std::to_string(message.timestamp_ms()));
  });
  return out;
}

std::string as_json_object(std::string_view text) {
  if (text.empty()) return {};
  std::string compact = compact_json(text);
  if (compact.starts_with('{')) return compact;
  std::string out = object_text([&](JsonObject& object) {
    if (compact.empty()) {
      object.text("text", text);
    } else {
      object.json("value", compact);
    }
  });
  return out;
}

}  // namespace shepherd
