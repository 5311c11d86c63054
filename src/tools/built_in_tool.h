// One tool of the server, and how it answers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "tools/arguments.h"
#include "tools/toolbox.h"

namespace shepherd {

// Where the outcome of one use goes. Threads: value; its functions are called on the loop.
struct ToolAnswer {
  std::move_only_function<void(ToolOutcome)> done;
  std::function<void(std::string_view)> progress;  // may be empty
};

// An interface, so that a tool is one file. Threads: strand (the loop's).
class BuiltInTool {
 public:
  virtual ~BuiltInTool() = default;
  virtual const Tool& tool() const = 0;
  // `arguments` may be anything.
  virtual std::string describe(const Arguments& arguments) const = 0;
  virtual std::string rule(const Arguments& /*arguments*/) const { return tool().definition.name; }
  // `arguments` are an object.
  virtual std::unique_ptr<ToolRun> start(const ToolInvocation& use, const Arguments& arguments, ToolAnswer answer) = 0;
};

// The definition of a tool of this server. `parameters` are the properties of a JSON Schema, `required` the names.
Tool built_in_tool(std::string name, std::string description, std::string_view properties, std::string_view required,
                   bool asks);

ToolOutcome good_outcome(std::string content, std::string summary = {});
ToolOutcome failed_outcome(std::string_view why);  // "Error: " and why

// Answers with the next work of the loop.
std::unique_ptr<ToolRun> answer_later(Executor& loop, ToolOutcome outcome, ToolAnswer answer);

// Runs `work` beside the loop, and answers with what it returns. Work that has not begun when the run is destroyed is
// not done.
std::unique_ptr<ToolRun> run_beside(Executor& loop, Executor& blocking, std::move_only_function<ToolOutcome()> work,
                                    ToolAnswer answer);

}  // namespace shepherd
