#include "app/run_request.h"

#include <boost/json.hpp>

namespace shepherd {
namespace {

namespace json = boost::json;

// As a shell would need it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string RunRequest::command_line() const {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

std::string creation_body(const RunRequest& request, const std::string& runner) {
  bool is_command = !request.command.empty();
  json::object task{{"description", is_command ? request.command_line() : request.prompt}};
  if (!request.context.empty()) task["context"] = request.context;
  json::object body{{"task", task}, {"agent", is_command ? "text" : request.agent}, {"runner", runner}};
  auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) body[key] = value;
  };
  text("id", request.id);
  text("title", request.name);
  text("model", request.model);
  text("mode", request.mode);
  text("resumeOf", request.resume_of);
  if (is_command) body["command"] = json::value_from(request.command);
  if (request.max_turns > 0) body["maxTurns"] = request.max_turns;
  if (request.timeout_seconds > 0) body["timeout"] = request.timeout_seconds;
  if (request.budget_usd > 0) body["budget"] = request.budget_usd;
  if (!request.allowed_tools.empty()) body["allowedTools"] = json::value_from(request.allowed_tools);
  if (!request.labels.empty()) body["labels"] = json::value_from(request.labels);
  return json::serialize(body);
}

}  // namespace shepherd
