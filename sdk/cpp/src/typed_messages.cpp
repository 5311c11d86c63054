#include "typed_messages.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wrappers.pb.h>

#include <cctype>
#include <cmath>
#include <optional>

namespace shepherd::agent {
namespace pb = gibson::agent;
namespace typed = gibson::typed_agent;
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr std::string_view kToolFailed = "TOOL_FAILED";  // what Execution::tool() reports
constexpr double kMaxExact = 9'007'199'254'740'992;      // beyond it, a number in JSON may not be a whole one any more

Value value_of(const typed::TypedValue& from);

Value object_of(const google::protobuf::Map<std::string, typed::TypedValue>& entries) {
  Value out;
  auto& fields = *out.mutable_struct_value()->mutable_fields();
  for (const auto& [key, value] : entries) fields[key] = value_of(value);
  return out;
}

Value value_of(const typed::TypedValue& from) {
  Value out;
  switch (from.kind_case()) {
    case typed::TypedValue::kStringValue:
      out.set_string_value(from.string_value());
      break;
    case typed::TypedValue::kIntValue:
      out.set_number_value(static_cast<double>(from.int_value()));
      break;
    case typed::TypedValue::kDoubleValue:
      if (std::isfinite(from.double_value())) {
        out.set_number_value(from.double_value());
      } else {
        out.set_null_value(google::protobuf::NULL_VALUE);
      }
      break;
    case typed::TypedValue::kBoolValue:
      out.set_bool_value(from.bool_value());
      break;
    case typed::TypedValue::kBytesValue: {
      google::protobuf::BytesValue bytes;  // its JSON form is base64
      bytes.set_value(from.bytes_value());
      std::string json;
      (void)google::protobuf::util::MessageToJsonString(bytes, &json);
      out.set_string_value(json.substr(1, json.size() - 2));
      break;
    }
    case typed::TypedValue::kArrayValue:
      out.mutable_list_value();
      for (const typed::TypedValue& item : from.array_value().items()) {
        *out.mutable_list_value()->add_values() = value_of(item);
      }
      break;
    case typed::TypedValue::kMapValue:
      return object_of(from.map_value().entries());
    case typed::TypedValue::kNullValue:
    case typed::TypedValue::KIND_NOT_SET:
      out.set_null_value(google::protobuf::NULL_VALUE);
  }
  return out;
}

void take(typed::TypedValue& out, const Value& from) {
  switch (from.kind_case()) {
    case Value::kNumberValue: {
      double number = from.number_value();
      bool whole = std::trunc(number) == number && std::fabs(number) < kMaxExact;
      if (whole) {
        out.set_int_value(static_cast<std::int64_t>(number));
      } else {
        out.set_double_value(number);
      }
      break;
    }
    case Value::kStringValue:
      out.set_string_value(from.string_value());
      break;
    case Value::kBoolValue:
      out.set_bool_value(from.bool_value());
      break;
    case Value::kStructValue:
      out.mutable_map_value();
      for (const auto& [key, value] : from.struct_value().fields()) {
        take((*out.mutable_map_value()->mutable_entries())[key], value);
      }
      break;
    case Value::kListValue:
      out.mutable_array_value();
      for (const Value& item : from.list_value().values()) take(*out.mutable_array_value()->add_items(), item);
      break;
    case Value::kNullValue:
    case Value::KIND_NOT_SET:
      out.set_null_value(typed::NULL_VALUE);
  }
}

// Text that is no JSON is a text value.
Value parsed(const std::string& json) {
  Value value;
  if (!google::protobuf::util::JsonStringToMessage(json, &value).ok()) value.set_string_value(json);
  return value;
}

std::string text_of(const Value& value) {
  if (value.kind_case() == Value::kStringValue) return value.string_value();
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(value, &json);
  return json;
}

std::string in_capitals(std::string_view prefix, const std::string& word) {
  std::string name(prefix);
  for (char c : word) name.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  return name;
}

void take_evidence(typed::Finding& finding, const Value& list) {
  for (const Value& item : list.list_value().values()) {
    typed::Evidence& evidence = *finding.add_evidence();
    for (const auto& [key, value] : item.struct_value().fields()) {
      if (key == "title") {
        evidence.set_title(text_of(value));
      } else if (key == "content") {
        evidence.set_content(text_of(value));
      } else if (key == "type") {
        typed::EvidenceType type = typed::EVIDENCE_TYPE_OTHER;
        if (!typed::EvidenceType_Parse(in_capitals("EVIDENCE_TYPE_", text_of(value)), &type)) {
          (*evidence.mutable_metadata())["type"] = text_of(value);
        }
        evidence.set_type(type);
      } else {
        (*evidence.mutable_metadata())[key] = text_of(value);
      }
    }
  }
}

void take_techniques(typed::Finding& finding, const Value& list) {
  for (const Value& item : list.list_value().values()) {
    std::string technique = text_of(item);
    typed::MitreMapping& mapping =
        technique.starts_with("AML.") ? *finding.mutable_mitre_atlas() : *finding.mutable_mitre_attack();
    if (mapping.technique_id().empty()) {
      mapping.set_technique_id(technique);
    } else {
      mapping.add_sub_techniques(technique);
    }
  }
}

bool take_member(typed::Finding& finding, const std::string& key, const Value& value) {
  if (key == "id") {
    finding.set_id(text_of(value));
  } else if (key == "title") {
    finding.set_title(text_of(value));
  } else if (key == "description") {
    finding.set_description(text_of(value));
  } else if (key == "category") {
    finding.set_category(text_of(value));
  } else if (key == "subcategory") {
    finding.set_subcategory(text_of(value));
  } else if (key == "remediation") {
    finding.set_remediation(text_of(value));
  } else if (key == "technique") {
    finding.set_technique(text_of(value));
  } else if (key == "severity") {
    typed::FindingSeverity severity = typed::FINDING_SEVERITY_UNSPECIFIED;
    if (!typed::FindingSeverity_Parse(in_capitals("FINDING_SEVERITY_", text_of(value)), &severity)) return false;
    finding.set_severity(severity);
  } else if (key == "confidence" && value.kind_case() == Value::kNumberValue) {
    finding.set_confidence(value.number_value());
  } else if (key == "evidence" && value.kind_case() == Value::kListValue) {
    take_evidence(finding, value);
  } else if (key == "mitre_techniques" && value.kind_case() == Value::kListValue) {
    take_techniques(finding, value);
  } else {
    return false;
  }
  return true;
}

void take_finding(typed::Finding& finding, const std::string& json) {
  Value value = parsed(json);
  if (value.kind_case() != Value::kStructValue) return finding.set_title(text_of(value));
  Value others;
  for (const auto& [key, member] : value.struct_value().fields()) {
    if (!take_member(finding, key, member)) (*others.mutable_struct_value()->mutable_fields())[key] = member;
  }
  if (others.struct_value().fields().empty()) return;
  typed::Evidence& more = *finding.add_evidence();
  more.set_title("more");
  more.set_type(typed::EVIDENCE_TYPE_OTHER);
  more.set_content(text_of(others));
}

void take_error(typed::ErrorEvent& out, const pb::ErrorEvent& error) {
  typed::ErrorCode code = typed::ERROR_CODE_UNSPECIFIED;
  std::string text = error.message();
  if (error.code() == kToolFailed) {
    code = typed::ERROR_CODE_TOOL_EXEC_FAILED;
  } else if (!error.code().empty() && !typed::ErrorCode_Parse("ERROR_CODE_" + error.code(), &code)) {
    code = typed::ERROR_CODE_INTERNAL;  // an error without a code breaks the protocol
    text = error.code() + ": " + text;
  }
  out.set_code(code);
  out.set_message(text);
  out.set_fatal(error.fatal());
}

}  // namespace

std::string task_json_of(const typed::Task& task) {
  Struct object;
  auto& fields = *object.mutable_fields();
  for (const auto& [key, value] : task.metadata()) fields[key] = value_of(value);
  // The runner sends this member of the task among its context.
  Value context = object_of(task.context());
  auto& members = *context.mutable_struct_value()->mutable_fields();
  if (auto repo = members.find("repo"); repo != members.end()) {
    fields["repo"] = repo->second;
    members.erase(repo);
  }
  if (!members.empty()) fields["context"] = context;
  if (task.constraints().max_turns() > 0) fields["maxTurns"].set_number_value(task.constraints().max_turns());
  fields["id"].set_string_value(task.id());
  fields["goal"].set_string_value(task.goal());
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(object, &json);
  return json;
}

typed::AgentMessage typed_message(const pb::AgentMessage& message) {
  typed::AgentMessage out;
  switch (message.payload_case()) {
    case pb::AgentMessage::kToolCall: {
      typed::ToolCallEvent& call = *out.mutable_tool_call();
      call.set_tool_name(message.tool_call().tool_name());
      call.set_call_id(message.tool_call().call_id());
      Value input = parsed(message.tool_call().input_json());
      if (input.kind_case() != Value::kStructValue) {
        take((*call.mutable_input())["value"], input);
      } else {
        for (const auto& [key, value] : input.struct_value().fields()) take((*call.mutable_input())[key], value);
      }
      break;
    }
    case pb::AgentMessage::kToolResult:
      out.mutable_tool_result()->set_call_id(message.tool_result().call_id());
      out.mutable_tool_result()->set_success(message.tool_result().success());
      take(*out.mutable_tool_result()->mutable_output(), parsed(message.tool_result().output_json()));
      break;
    case pb::AgentMessage::kFinding:
      take_finding(*out.mutable_finding()->mutable_finding(), message.finding().finding_json());
      break;
    case pb::AgentMessage::kError:
      take_error(*out.mutable_error(), message.error());
      break;
    default:  // the same in both dialects
      out.ParseFromString(message.SerializeAsString());
      return out;
  }
  out.set_trace_id(message.trace_id());
  out.set_span_id(message.span_id());
  out.set_sequence(message.sequence());
  out.set_timestamp_ms(message.timestamp_ms());
  return out;
}

}  // namespace shepherd::agent
