// A stateless call as a task: its prompt, tools, answer, tokens, cost and end are events of a log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/completion.h"
#include "chat/session_log.h"
#include "llm/model.h"
#include "tools/toolbox.h"

namespace shepherd {

// Tasks with this agent are no chat sessions, and no runner takes them.
inline constexpr std::string_view kApiCallAgent = "api-call";

// A failure to write is logged and changes nothing else: the client's answer does not wait for the log.
// Threads: strand (the loop).
class CompletionLog {
 public:
  CompletionLog(LogParts parts, const std::string& id) : log_(std::make_shared<SessionLog>(parts, id)) {}

  // Creates the task. The log has what is new in the conversation: the messages behind the last answer.
  void begin(const CompletionRequest& request, const ModelFacts& facts, const std::string& backend);
  void remark(std::string_view text);
  void answered(const ModelAnswer& answer, std::optional<double> cost, bool final);
  void tool_called(const ToolRequest& call, std::string_view summary);
  void tool_ended(const ToolRequest& call, const ToolOutcome& outcome, std::int64_t duration_ms);
  void ended(const Result<CompletionEnd>& end);
  void cancelled();

 private:
  const std::shared_ptr<SessionLog> log_;
  Usage totals_;
};

// Ends the tasks of calls that a killed server left open. Threads: caller; it reads the store.
Result<void> end_open_api_calls(const LogParts& parts);

}  // namespace shepherd
