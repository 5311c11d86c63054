// One stateless call of a model: everything that the model is told comes with the request, and nothing is kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/model.h"

namespace shepherd {

// Threads: value.
struct CompletionRequest {
  std::string id;     // of this call, and of its task if calls are logged
  std::string model;  // an id of Completions::models()
  ModelRequest request;
  std::size_t bytes = 0;                      // about how large the request is
  std::string by;                             // the person
  std::map<std::string, std::string> labels;  // of its task
};

// Threads: value.
struct CompletionEnd {
  std::string text;                     // of the last model call
  std::string reasoning;                // of all of them
  std::vector<ToolRequest> tool_calls;  // for the client to run
  Finish finish = Finish::stop;         // of the last one
  ModelUsage usage;                     // of all of them; known if each one's is
  std::optional<double> cost;           // US dollars; nullopt: a price is not known
};

// Called on the loop. Each call may cancel the completion.
// Threads: strand (the loop).
class CompletionObserver {
 public:
  virtual ~CompletionObserver() = default;
  virtual void on_text(std::string_view piece) = 0;  // of every model call, also before a tool is used
  virtual void on_reasoning(std::string_view piece) = 0;
  // A tool of the server begins: from here on a repeated request may do something twice.
  virtual void on_tool(std::string_view name) = 0;
  // The last one, exactly once, unless the call was cancelled. Errors are those of ModelObserver::on_end(), and
  // not_found/model_not_found, rate_limited/too_many_calls, unavailable/too_many_steps, unavailable/shutting_down.
  virtual void on_end(Result<CompletionEnd> end) = 0;
};

}  // namespace shepherd
