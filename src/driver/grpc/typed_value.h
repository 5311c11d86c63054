// Values and findings of the typed dialect as JSON.
// Threads: value.
#pragma once

#include <google/protobuf/map.h>

#include <string>

namespace gibson::typed_agent {
class Finding;
class TypedValue;
}  // namespace gibson::typed_agent

namespace shepherd {

using TypedEntries = google::protobuf::Map<std::string, gibson::typed_agent::TypedValue>;

// Bytes become base64, a number that is not finite becomes null. Nesting ends where protocol buffers stop reading it.
void append_typed_value(std::string& out, const gibson::typed_agent::TypedValue& value);
// An object whose members are in the order of their names: a map has none of its own.
void append_typed_entries(std::string& out, const TypedEntries& entries);

// What is set, under the names that findings in JSON have: "severity":"high", "mitre_techniques" and the like.
std::string typed_finding_json(const gibson::typed_agent::Finding& finding);

}  // namespace shepherd
