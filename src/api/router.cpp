#include "api/router.h"

#include <algorithm>

#include "base/assert.h"

namespace shepherd {
namespace {

// Splits the path after its leading slash into segments; returns false if there are more than fit. `joined`: takes
// doubled slashes for one.
bool split(std::string_view path, std::span<std::string_view> segments, std::size_t& count, bool joined) {
  count = 0;
  if (path.empty() || path.front() != '/') return false;
  while (!path.empty()) {
    while (joined && path.starts_with("//")) path.remove_prefix(1);
    path.remove_prefix(1);
    if (count == segments.size()) return false;
    segments[count] = path.substr(0, path.find('/'));
    path.remove_prefix(segments[count].size());
    ++count;
  }
  return true;
}

bool is_parameter(std::string_view segment) {
  return !segment.empty() && segment.front() == '{';
}

bool matches(const std::vector<std::string_view>& pattern, std::span<const std::string_view> segments) {
  for (std::size_t i = pattern.size(); i-- > 0;) {  // paths differ most at their ends
    if (is_parameter(pattern[i]) ? segments[i].empty() : pattern[i] != segments[i]) return false;
  }
  return true;
}

}  // namespace

Router::Router(unsigned listener) : listener_(listener) {
  for (const Route& route : routes()) {
    std::array<std::string_view, kMaxRouteSegments> segments;
    std::size_t count = 0;
    SHEPHERD_ASSERT(split(route.pattern, segments, count, false), "a route's pattern is a short path");
    by_length_[count].push_back({&route, {segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(count)}});
  }
}

Found Router::find(std::string_view method, std::string_view path) const {
  Found found = find(method, path, false);
  if (found.route != nullptr || path.find("//") == std::string_view::npos) return found;
  // Clients of chats join a base address and a path blindly.
  Found joined = find(method, path, true);
  return joined.route != nullptr && is_chat(*joined.route) ? joined : found;
}

Found Router::find(std::string_view method, std::string_view path, bool joined) const {
  Found found;
  std::array<std::string_view, kMaxRouteSegments> segments;
  std::size_t count = 0;
  if (!split(path, segments, count, joined)) return found;
  std::span<const std::string_view> given(segments.data(), count);
  for (const Entry& entry : by_length_[count]) {
    const Route& route = *entry.route;
    if (!matches(entry.segments, given)) continue;
    bool here = (route.listeners & listener_) != 0;
    if (here && route.method == method) {
      std::size_t parameter = 0;
      for (std::size_t i = 0; i < count && parameter < found.parts.size(); ++i) {
        if (!is_parameter(entry.segments[i])) continue;
        found.parts[parameter++] = {static_cast<std::uint32_t>(segments[i].data() - path.data()),
                                    static_cast<std::uint32_t>(segments[i].size())};
      }
      found.route = &route;
      return found;
    }
    if (here) {
      if (!found.allow.empty()) found.allow += ", ";
      found.allow += route.method;
      if (route.method == "GET") found.allow += ", HEAD";  // the gate takes HEAD for every GET
    } else if (route.method == method) {
      found.elsewhere = true;
    }
  }
  return found;
}

}  // namespace shepherd
