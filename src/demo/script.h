// The scripted agent's script: a list of steps, each a JSON object. tests/agents/README.md describes them.
//
// Threads: value.
#pragma once

#include <boost/json.hpp>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scripted {

namespace json = boost::json;

using Steps = std::deque<json::object>;

struct Script {
  Steps steps;
  std::string version = "2.1.325 (Claude Code)";
  std::vector<std::string> refuses;  // options to reject as unknown
};

// Reads the environment: SCRIPTED_AGENT names a file, or is the script itself. Throws std::runtime_error if it cannot
// be read, because a test with a broken script must not look like a misbehaving agent.
Script script_from_environment();

// The steps in a message to the agent, which then starts with a JSON array of objects; nullopt for plain text.
std::optional<Steps> script_in(std::string_view message);

// The steps of a member that is an array of objects; empty if it is absent.
Steps steps_of(const json::value* array);

// Read a member, with a default.
std::string text(const json::object& step, std::string_view key, std::string_view otherwise = "");
double number(const json::object& step, std::string_view key, double otherwise = 0);
bool truth(const json::object& step, std::string_view key);

}  // namespace scripted
