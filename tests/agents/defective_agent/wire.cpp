#include "wire.h"

#include <grpcpp/support/slice.h>

#include <string>
#include <vector>

#include "gibson/typed_agent.pb.h"

namespace defective {
namespace {

namespace pb = gibson::agent;
namespace typed_pb = gibson::typed_agent;

// What this agent says in JSON is always the same few words.
typed_pb::AgentMessage in_types(const pb::AgentMessage& message) {
  typed_pb::AgentMessage out;
  if (message.has_tool_call()) {
    out.mutable_tool_call()->set_tool_name(message.tool_call().tool_name());
    out.mutable_tool_call()->set_call_id(message.tool_call().call_id());
    (*out.mutable_tool_call()->mutable_input())["item"].set_int_value(1);
  } else if (message.has_tool_result()) {
    out.mutable_tool_result()->set_call_id(message.tool_result().call_id());
    out.mutable_tool_result()->set_success(message.tool_result().success());
    out.mutable_tool_result()->mutable_output()->set_string_value("one");
  } else if (message.has_finding()) {
    out.mutable_finding()->mutable_finding()->set_title("A password");
    bool severe = message.finding().finding_json().find("severity") != std::string::npos;
    if (severe) out.mutable_finding()->mutable_finding()->set_severity(typed_pb::FINDING_SEVERITY_HIGH);
  } else if (message.has_error()) {
    bool coded = !message.error().code().empty();
    out.mutable_error()->set_code(coded ? typed_pb::ERROR_CODE_TOOL_EXEC_FAILED : typed_pb::ERROR_CODE_UNSPECIFIED);
    out.mutable_error()->set_message(message.error().message());
    out.mutable_error()->set_fatal(message.error().fatal());
  } else {
    out.ParseFromString(message.SerializeAsString());  // the same in both dialects
    return out;
  }
  out.set_trace_id(message.trace_id());
  out.set_span_id(message.span_id());
  out.set_sequence(message.sequence());
  out.set_timestamp_ms(message.timestamp_ms());
  return out;
}

}  // namespace

bool read(const grpc::ByteBuffer& bytes, bool typed, pb::ClientMessage& message) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return false;
  std::string content;
  for (const grpc::Slice& slice : slices) {
    content.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  if (!typed) return message.ParseFromString(content);
  typed_pb::ClientMessage in;
  if (!in.ParseFromString(content)) return false;
  if (!in.has_start()) return message.ParseFromString(content);
  message.Clear();
  message.mutable_start()->set_task_json("{}");
  message.mutable_start()->set_initial_mode(static_cast<pb::AgentMode>(in.start().initial_mode()));
  return true;
}

grpc::ByteBuffer written(const pb::AgentMessage& message, bool typed) {
  grpc::Slice slice(typed ? in_types(message).SerializeAsString() : message.SerializeAsString());
  return {&slice, 1};
}

}  // namespace defective
