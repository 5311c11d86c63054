#include "shepherd/agent/execution.h"

#include "conversation.h"
#include "random_hex.h"
#include "utf8.h"

namespace shepherd::agent {
namespace pb = gibson::agent;

Execution::Execution(std::shared_ptr<Conversation> conversation) : conversation_(std::move(conversation)) {}

const Task& Execution::task() const {
  return conversation_->task();
}
const TraceContext& Execution::trace() const {
  return conversation_->trace();
}
Mode Execution::mode() const {
  return conversation_->mode();
}

void Execution::reason(std::string_view text) {
  conversation_->text(text, true);
}
void Execution::output(std::string_view text) {
  conversation_->text(text, false);
}
void Execution::flush() {
  conversation_->flush();
}

std::string Execution::tool_call(std::string_view tool, std::string_view input_json) {
  std::string call_id = "call-" + random_hex(12);
  pb::AgentMessage message;
  message.mutable_tool_call()->set_tool_name(valid_utf8(tool));
  message.mutable_tool_call()->set_input_json(valid_utf8(input_json));
  message.mutable_tool_call()->set_call_id(call_id);
  conversation_->send(std::move(message));
  return call_id;
}

void Execution::tool_result(std::string_view call_id, std::string_view output_json, bool success) {
  pb::AgentMessage message;
  message.mutable_tool_result()->set_call_id(valid_utf8(call_id));
  message.mutable_tool_result()->set_output_json(valid_utf8(output_json));
  message.mutable_tool_result()->set_success(success);
  conversation_->send(std::move(message));
}

std::optional<std::string> Execution::tool(std::string_view tool, std::string_view input_json,
                                           const std::function<std::string()>& body) {
  std::string call_id = tool_call(tool, input_json), output, problem;
  bool success = false;
  try {
    output = body();
    success = true;
  } catch (const std::exception& thrown) {
    problem = thrown.what();
  }
  tool_result(call_id, success ? output : "{\"error\":" + quoted(problem) + "}", success);
  if (success) return output;
  error("TOOL_FAILED", std::string(tool) + ": " + problem);
  return {};
}

void Execution::finding(const Finding& finding) {
  if (!finding.id.empty()) return finding_json(to_json(finding));
  Finding named = finding;
  named.id = "finding-" + random_hex(12);
  finding_json(to_json(named));
}

void Execution::finding_json(std::string_view json) {
  pb::AgentMessage message;
  message.mutable_finding()->set_finding_json(valid_utf8(json));
  conversation_->send(std::move(message));
}

void Execution::error(std::string_view code, std::string_view text) {
  pb::AgentMessage message;
  message.mutable_error()->set_code(valid_utf8(code));
  message.mutable_error()->set_message(valid_utf8(text));
  conversation_->send(std::move(message));
}

bool Execution::checkpoint() {
  return conversation_->checkpoint();
}
bool Execution::interrupted() const {
  return conversation_->interrupted();
}
bool Execution::stopped() const {
  return conversation_->stopped();
}
void Execution::wait_for(std::chrono::milliseconds duration) {
  conversation_->wait_for(duration);
}
std::optional<Steering> Execution::next_steering() {
  return conversation_->next_steering();
}
std::optional<Steering> Execution::wait_for_input(std::string_view question) {
  return conversation_->wait_for_input(question);
}
void Execution::log(LogLevel level, std::string_view message) const {
  conversation_->log(level, std::string(message));
}

}  // namespace shepherd::agent
