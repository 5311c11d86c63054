// JSON as a tree that can be changed, for the few events that redaction or condensing must rewrite. Numbers keep their
// exact value on the way in and out.
// Threads: value.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

Result<boost::json::value> parse_tree(std::string_view text);
void append_tree(std::string& out, const boost::json::value& value);
std::string tree_text(const boost::json::value& value);
// The text of a string member; empty when there is none.
std::string text_member(const boost::json::object& object, std::string_view key);

}  // namespace shepherd
