// Everything that an agent and its client said to each other, as input for the rules. Threads: value.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd::harness {

struct AcpLine {
  bool from_agent = false;
  bool is_json = false;  // what the client says always is
  std::string text;
  boost::json::value json = nullptr;

  const boost::json::object* object() const { return json.if_object(); }
};

using AcpTranscript = std::vector<AcpLine>;

inline constexpr int kMethodNotFound = -32601;  // of JSON-RPC

// Members of an object that may be absent or of another type.
const boost::json::object* member_object(const boost::json::object& of, std::string_view name);
const boost::json::array* member_array(const boost::json::object& of, std::string_view name);
// Empty if there is no such string.
std::string_view member_string(const boost::json::object& of, std::string_view name);

std::string quote_of(std::string_view line);  // for a report: one line, cut

}  // namespace shepherd::harness
