#include "mcp/tool_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "mcp/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kNameSeparator = "__";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// FNV-1a, which is the same everywhere and forever.
std::uint64_t hash_of(std::string_view server, std::string_view tool) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  auto add = [&](char c) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U; };
  for (char c : server) add(c);
  add('\0');
  for (char c : tool) add(c);
  return hash;
}

}  // namespace

std::string tool_name_for_model(std::string_view server, std::string_view tool) {
  std::string name = fmt::format("{}{}{}", server, kNameSeparator, tool);
  bool legal = name.size() <= kMaxMcpFunctionNameBytes;
  for (char& c : name) {
    if (is_letter_or_digit(c) || c == '_' || c == '-') continue;
    c = '_';
    legal = false;
  }
  if (legal) return name;
  std::string mark = fmt::format("_{:010x}", hash_of(server, tool) & 0xFFFFFFFFFFU);
  return name.substr(0, kMaxMcpFunctionNameBytes - mark.size()) + mark;
}

bool is_server_name(std::string_view name) {
  bool right = !name.empty() && name.size() <= kMaxMcpServerNameBytes &&
               name.find(kNameSeparator) == std::string_view::npos && is_letter_or_digit(name.front()) &&
               is_letter_or_digit(name.back());
  return right &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; });
}

}  // namespace shepherd
