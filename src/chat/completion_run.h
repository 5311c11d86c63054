// A stateless call under way: one model call, or model calls and tools until the model has answered.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "chat/completion.h"
#include "chat/completion_log.h"
#include "chat/completion_tools.h"
#include "chat/turn.h"
#include "llm/model.h"
#include "llm/model_config.h"
#include "redact/redact.h"
#include "tools/toolbox.h"

namespace shepherd {

// What a call uses; all of it outlives it.
struct CompletionParts {
  const ChatConfig& config;
  const Clock& clock;
  Model& model;
  Toolbox* tools = nullptr;            // nullptr: the client's tools alone
  const Redactor* redactor = nullptr;  // of what the server's tools return
  std::function<ModelPrice(const std::string& backend)> price;
};

// Destroying it cancels it: the model's call and the tool end. Without tools of the server it relays: what the model
// asks for goes to the client. With them it runs those that are the server's. A step in which the model asks for one of
// the client's tools is the last one, and only the client's are asked for: the model asks for the others again.
// Threads: strand (the loop).
class CompletionRun final : private ModelObserver {
 public:
  // `log` may be null. `done` may destroy this.
  CompletionRun(CompletionParts parts, CompletionRequest request, CompletionObserver& observer,
                std::shared_ptr<CompletionLog> log, std::move_only_function<void(Result<CompletionEnd>)> done);
  ~CompletionRun() override;

  void begin();
  void end(Error why);  // now, with this error

 private:
  void on_text(std::string_view piece) override;
  void on_reasoning(std::string_view piece) override;
  void on_retry(std::string_view why) override;
  void on_end(Result<ModelAnswer> answer) override;

  void call_model();
  void count(const ModelAnswer& answer);
  void take_calls(ModelAnswer answer);
  void next_tool();
  void run_tool(const ToolRequest& call);
  void tool_ended(const ToolOutcome& outcome);
  void add_result(const ToolRequest& call, std::string content, bool failed, std::vector<ModelImage> images = {});
  void answered(ModelAnswer answer);
  void finish(Result<CompletionEnd> end);

  const CompletionParts parts_;
  CompletionRequest request_;
  CompletionObserver& observer_;
  const std::shared_ptr<CompletionLog> log_;
  std::move_only_function<void(Result<CompletionEnd>)> done_;

  std::optional<CompletionTools> tools_;
  std::unique_ptr<ModelCall> call_;
  std::unique_ptr<ToolRun> run_;
  std::deque<ToolRequest> calls_;  // to be run; the first one is active
  bool cut_off_ = false;           // by the token limit, so that none of them may run
  std::int64_t tool_began_ms_ = 0;
  std::int64_t steps_ = 0;
  bool said_before_ = false;  // in an earlier step
  bool said_ = false;         // in this one
  CompletionEnd end_;
  bool over_ = false;
};

}  // namespace shepherd
