// Tools that a model may use, wherever they come from: built into the server (tools/built_in.h) or offered by an MCP
// server (mcp/). A failure of a tool is an outcome for the model, never an error of the turn.
// Threads: strand (the chat's loop), unless a type says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llm/model.h"

namespace shepherd {

// Threads: value.
struct Tool {
  ToolDefinition definition;
  std::string source;       // "built-in", or the configured name of an MCP server
  std::string source_name;  // what the source itself calls the tool
  bool asks = true;         // a person must approve each use, unless the session allows the tool
};

// Threads: value.
struct ToolInvocation {
  std::string session;    // the task
  std::string call_id;    // the model's
  std::string name;       // of the definition
  std::string arguments;  // a JSON object, checked
};

// Threads: value.
struct ToolOutcome {
  bool success = false;
  std::string content;             // for the model: the result, or what went wrong; bounded (kMaxToolResultBytes)
  std::string summary;             // one line for people; empty: the first line of the content
  std::vector<ModelImage> images;  // for backends that take them
  std::string proof;               // what became of processes: "ended: 2 processes"; empty: nothing to say
};

// A use under way. Destroying it cancels it; its processes are ended, and done is not called any more.
class ToolRun {
 public:
  virtual ~ToolRun() = default;
};

class Toolbox {
 public:
  virtual ~Toolbox() = default;

  // What there is now. A change (an MCP server came, went or changed its list) calls on_change, if set.
  virtual std::vector<Tool> tools() const = 0;
  virtual void on_change(std::function<void()> changed) = 0;

  // `done` is called once on the loop, never inside start(). `progress` gets short lines for people meanwhile; it may
  // be empty. An unknown name and bad arguments are outcomes, too.
  virtual std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                         std::function<void(std::string_view)> progress) = 0;
  // One line for people about a call: "Runs git status", "Reads src/main.cpp". `arguments` may be anything.
  virtual std::string describe(std::string_view name, std::string_view arguments) const = 0;
  // The rule by which an approval of this call is remembered: "run_command(git)", "write_file". Never empty.
  virtual std::string rule_of(std::string_view name, std::string_view arguments) const = 0;
};

// Several as one; names are unique already, or the earlier one wins. Threads: strand.
std::unique_ptr<Toolbox> join_toolboxes(std::vector<std::unique_ptr<Toolbox>> boxes);

}  // namespace shepherd
