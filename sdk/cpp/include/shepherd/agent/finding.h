// A finding that a person should see, and its JSON.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd::agent {

struct Evidence {
  std::string type = {}, title = {}, content = {};
};

struct Finding {
  std::string id = {};  // the library generates one if this is empty
  std::string title = {}, description = {};
  std::string severity = "info";  // info, low, medium, high, critical
  double confidence = 1.0;        // 0 to 1
  std::string category = {};
  std::vector<std::string> mitre_techniques = {};
  std::vector<Evidence> evidence = {};
};

std::string to_json(const Finding& finding);

// A JSON string with its quotes, for writing small JSON by hand. Invalid UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);

}  // namespace shepherd::agent
