// The examples of tests/golden/redaction: secrets, and what looks like one.
#pragma once

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <string>

namespace shepherd {

inline boost::json::array golden(const std::string& name) {
  std::ifstream file(std::string(SHEPHERD_GOLDEN_DIR) + "/redaction/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return boost::json::parse(text.str()).as_array();
}

// The corpus breaks its examples up so that no scanner takes them for live keys.
inline std::string joined(const boost::json::value& value) {
  std::string text(value.as_string());
  for (std::size_t at = text.find("<+>"); at != std::string::npos; at = text.find("<+>")) text.erase(at, 3);
  return text;
}

}  // namespace shepherd
