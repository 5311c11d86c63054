// What the scripted model says to one request, in no dialect: a call of the agent's shell, or words.
//
// The script is in the prompt. The newest prompt with a command between two backticks asks for that command; when the
// conversation has a result of a tool after it, or when no tool of the request runs commands, the model says "ready".
// Threads: any.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd::harness {

// A tool that the agent offers to its model.
struct OfferedTool {
  std::string name;
  boost::json::object parameters;  // JSON Schema of its input
};

// A request of any dialect, as far as the script needs it.
struct ModelRequest {
  std::vector<OfferedTool> tools = {};
  std::string prompt = {};  // the newest words of the user
  bool has_result = false;  // a tool has answered since
};

struct ShellCall {
  std::string tool;
  boost::json::object input;
};

struct ModelReply {
  std::optional<ShellCall> call = {};
  std::string words = {};  // if there is no call
};

// What stands between the last two backticks; empty if there is none.
std::string command_in(std::string_view prompt);

ModelReply reply_to(const ModelRequest& request);

}  // namespace shepherd::harness
