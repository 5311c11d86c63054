// Which members of Gemini CLI's records are looked into; everything else (a tool's input) is one slice.
// Threads: value.
#pragma once

#include <string_view>

namespace shepherd {

inline bool gemini_looks_into(std::string_view key, std::string_view parent) {
  for (std::string_view known : {"error", "stats", "models", "tools", "api", "tokens"}) {
    if (key == known) return true;
  }
  return parent == "models";  // its members are named by models
}

}  // namespace shepherd
