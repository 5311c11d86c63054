// Condensing shortens a tool's input and output to what a consumer needs. The full content is stored beside the event
// as its detail.
// Threads: value.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "model/limits.h"

namespace shepherd {

struct CondenseRules {
  std::size_t command_characters = kCondensedCommandCharacters;  // Bash `command`
  std::size_t result_characters = kCondensedResultCharacters;    // output.summary; "... (truncated)" is added to it
  std::size_t string_characters = kCondensedStringCharacters;    // every other string value
  std::map<std::string, std::size_t> by_tool;                    // tool name -> string_characters for that tool
};

// The first `characters` code points of valid UTF-8 text, never cut inside a sequence; all of it if it is short enough.
std::string_view first_characters(std::string_view text, std::size_t characters);

std::size_t characters_in(std::string_view text);  // code points

// first_characters, plus "... (truncated)" if anything was cut.
std::string truncated(std::string_view text, std::size_t characters);

// Cuts the string values of a tool's input in place. Edit-like inputs (old_string/new_string) keep the path and the
// lengths of both texts. Returns true if anything was cut, so that the caller keeps the original as detail.
bool condense_input(std::string_view tool, boost::json::object& input, const CondenseRules& rules);

// Cuts the `summary` of a tool's output in place. Returns how many characters it had if anything was cut, otherwise 0.
std::size_t condense_output(boost::json::object& output, const CondenseRules& rules);

}  // namespace shepherd
