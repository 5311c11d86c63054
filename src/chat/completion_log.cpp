#include "chat/completion_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "chat/active_tasks.h"
#include "chat/context_plan.h"
#include "chat/limits.h"
#include "json/scan.h"
#include "model/condense.h"
#include "model/limits.h"

namespace shepherd {
namespace {

// The text of content parts; what is no text is named.
std::string shown_content(const ModelMessage& message) {
  if (message.parts.empty()) return message.content;
  std::string shown;
  for (std::string_view part : array_elements(message.parts).value_or(std::vector<std::string_view>())) {
    if (!shown.empty()) shown += "\n";
    std::string type = text_member(part, "type");
    shown += type == "text" ? text_member(part, "text") : "[" + type + "]";
  }
  return shown;
}

// Where the part of the conversation begins that earlier calls did not have: behind the last answer.
std::size_t new_messages(const std::vector<ModelMessage>& messages) {
  std::size_t at = messages.size();
  while (at > 0 && (messages[at - 1].role != Role::assistant || !messages[at - 1].tool_calls.empty())) --at;
  return std::max(at, messages.size() - std::min(messages.size(), kMaxLoggedMessages));
}

std::string prompt_line(const std::vector<ModelMessage>& messages) {
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->role != Role::user) continue;
    std::string text = shown_content(*message);
    std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) continue;
    std::string_view line = std::string_view(text).substr(begin);
    return std::string(first_characters(line.substr(0, line.find_first_of("\r\n")), kApiCallTitleCharacters));
  }
  return {};
}

}  // namespace

void CompletionLog::begin(const CompletionRequest& request, const ModelFacts& facts, const std::string& backend) {
  const std::vector<ModelMessage>& messages = request.request.messages;
  TaskSpec spec;
  spec.id = log_->task();
  spec.title = log_->redacted(prompt_line(messages));
  if (spec.title.empty()) spec.title = "API call";
  spec.agent = kApiCallAgent;
  spec.model = request.model;
  for (const auto& [key, value] : request.labels) spec.labels[key] = log_->redacted(value);
  log_->parts().journal.create_task(std::move(spec), "", [id = log_->task()](const Result<Created>& created) {
    if (!created) log_warn("API call {}: cannot create its task: {}", id, created.error().message);
  });

  SessionFacts session;
  session.model = facts.model.empty() ? request.model : facts.model;
  session.backend = backend;
  session.context_tokens = facts.context_tokens;
  session.session = log_->task();
  for (const ToolDefinition& tool : request.request.tools) {
    if (session.tools.size() < kMaxLoggedMessages) session.tools.push_back(tool.name);
  }
  if (!messages.empty() && messages.front().role == Role::system) {
    session.system = log_->redacted(first_characters(messages.front().content, kLoggedSystemCharacters));
  }
  std::vector<ChatEvent> events;
  events.push_back(session_start_event(session));
  events.push_back(state_event(State::running, "answers an API call"));
  std::size_t first = new_messages(messages);
  std::size_t systems = session.system.empty() ? 0 : 1;
  if (first > systems) {
    events.push_back(remark_event(std::to_string(first - systems) + " earlier messages are not repeated here"));
  }
  for (std::size_t at = std::max(first, systems); at < messages.size(); ++at) {
    ModelMessage message = messages[at];
    message.content = log_->redacted(shown_content(message));
    for (ToolRequest& call : message.tool_calls) call.arguments = log_->redacted(call.arguments);
    MessageFacts about;
    about.tokens = estimated_tokens(message.content);
    if (message.role == Role::user) about.by = request.by;
    events.push_back(message_event(message, about));
  }
  log_->append(std::move(events));
}

void CompletionLog::remark(std::string_view text) {
  log_->append({remark_event(log_->redacted(text))});
}

void CompletionLog::answered(const ModelAnswer& answer, std::optional<double> cost, bool final) {
  ModelMessage message;
  message.role = Role::assistant;
  message.content = log_->redacted(answer.text);
  message.reasoning = log_->redacted(answer.reasoning);
  message.tool_calls = answer.tool_calls;
  for (ToolRequest& call : message.tool_calls) call.arguments = log_->redacted(call.arguments);
  MessageFacts facts;
  facts.exact = answer.usage.known;
  facts.tokens = answer.usage.known ? answer.usage.output : estimated_tokens(message.content);
  if (answer.usage.known) facts.total_tokens = answer.usage.input + answer.usage.output;
  facts.usage = answer.usage;
  facts.model = answer.model;
  facts.finish_reason = name(answer.finish);
  facts.final = final;
  const ModelUsage& usage = answer.usage;
  totals_.cost_usd = cost.value_or(totals_.cost_usd);
  totals_.input_tokens +=
      static_cast<std::uint64_t>(std::max<std::int64_t>(usage.input - usage.cache_read - usage.cache_write, 0));
  totals_.output_tokens += static_cast<std::uint64_t>(usage.output);
  totals_.cache_read_tokens += static_cast<std::uint64_t>(usage.cache_read);
  totals_.cache_write_tokens += static_cast<std::uint64_t>(usage.cache_write);
  totals_.api_calls += 1;
  totals_.tool_uses += answer.tool_calls.size();
  totals_.turns += final ? 1 : 0;
  std::vector<ChatEvent> events;
  events.push_back(usage_event(totals_, cost.has_value(), answer.model, log_->task()));
  events.push_back(message_event(message, facts));
  log_->append(std::move(events));
}

void CompletionLog::tool_called(const ToolRequest& call, std::string_view summary) {
  ToolRequest shown{call.id, call.name, log_->redacted(call.arguments)};
  log_->append({tool_call_event(shown, log_->redacted(summary))});
}

void CompletionLog::tool_ended(const ToolRequest& call, const ToolOutcome& outcome, std::int64_t duration_ms) {
  ModelMessage message;
  message.role = Role::tool;
  message.content = log_->redacted(outcome.content);
  message.tool_call_id = call.id;
  message.tool_name = call.name;
  message.failed = !outcome.success;
  MessageFacts facts;
  facts.tokens = estimated_tokens(message.content);
  std::string summary = outcome.summary.empty() ? message.content : log_->redacted(outcome.summary);
  if (!outcome.proof.empty()) summary += " (" + outcome.proof + ")";
  log_->append(
      {tool_result_event(call, {outcome.success, std::move(summary), duration_ms}), message_event(message, facts)});
}

void CompletionLog::ended(const Result<CompletionEnd>& end) {
  if (end) return log_->append({state_event(State::completed, "answered")});
  std::string message = log_->redacted(end.error().message);
  log_->append({error_event(end.error().reason, message, true), state_event(State::failed, message)});
}

void CompletionLog::cancelled() {
  log_->append({state_event(State::cancelled, "the client went away")});
}

Result<void> end_open_api_calls(const LogParts& parts) {
  return each_active_task(parts.journal.store(), kApiCallAgent, [&](const TaskRow& row) {
    std::string why = "the server ended during this call";
    std::make_shared<SessionLog>(parts, row.spec.id)
        ->append({error_event("server_ended", why, true), state_event(State::failed, why)});
  });
}

}  // namespace shepherd
