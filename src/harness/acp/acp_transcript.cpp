#include "harness/acp/acp_transcript.h"

#include "harness/acp/limits.h"
#include "harness/report.h"

namespace shepherd::harness {

const boost::json::object* member_object(const boost::json::object& of, std::string_view name) {
  const boost::json::value* found = of.if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

const boost::json::array* member_array(const boost::json::object& of, std::string_view name) {
  const boost::json::value* found = of.if_contains(name);
  return found == nullptr ? nullptr : found->if_array();
}

std::string_view member_string(const boost::json::object& of, std::string_view name) {
  const boost::json::value* found = of.if_contains(name);
  const boost::json::string* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::string quote_of(std::string_view line) {
  bool is_cut = line.size() > kMaxQuotedLine;
  return "\"" + readable(line.substr(0, kMaxQuotedLine)) + (is_cut ? "...\"" : "\"");
}

}  // namespace shepherd::harness
