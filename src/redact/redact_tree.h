// Redacts a JSON tree in place.
// Threads: value.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "redact/redact.h"

namespace shepherd {

// Redacts all text in the tree: names, strings, and numbers that are card numbers. `key` is the name under which the
// value stands.
void redact_tree(std::string_view key, boost::json::value& value, const Redactor& redactor);

}  // namespace shepherd
