// The tools of the server that a stateless call may use. It has no operator to ask, so only those that need no
// approval.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/model.h"
#include "tools/toolbox.h"

namespace shepherd {

// Whether some use of the tool needs no approval. `allow` are the rules of chat.allow. Threads: value.
bool usable_unasked(const Tool& tool, const std::vector<std::string>& allow);

// Threads: strand (the loop).
class CompletionTools {
 public:
  // A client's own tools keep their names; a tool of the server with the same name gets a prefix. Both arguments
  // outlive it.
  CompletionTools(Toolbox& box, const std::vector<std::string>& allow, const std::vector<ToolDefinition>& clients);

  const std::vector<ToolDefinition>& definitions() const { return definitions_; }
  // Whether the client offered a tool with this name.
  bool is_clients(std::string_view name) const;
  // What keeps a call of the model from running, for the model; empty: nothing.
  std::string refusal(const ToolRequest& call) const;
  // The call under the toolbox's own name.
  ToolRequest own(const ToolRequest& call) const;
  std::string describe(const ToolRequest& call) const;

 private:
  struct Entry {
    std::string shown, own;
    bool asks;
  };
  const Entry* find(std::string_view shown) const;

  Toolbox& box_;
  const std::vector<std::string>& allow_;
  std::vector<std::string> clients_;
  std::vector<Entry> entries_;
  std::vector<ToolDefinition> definitions_;
};

}  // namespace shepherd
