// Finds the route of a request on one listener.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/limits.h"
#include "api/route.h"

namespace shepherd {

// A parameter's place in the path, which stays valid when the request is moved.
struct PathPart {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};
using PathParts = std::array<PathPart, 2>;

struct Found {
  const Route* route = nullptr;
  PathParts parts;
  std::string allow;       // without a route: the path's methods, "GET, POST"; empty for an unknown path
  bool elsewhere = false;  // without a route: the other listener has it
};

// Threads: any (constant after construction).
class Router {
 public:
  explicit Router(unsigned listener);
  Found find(std::string_view method, std::string_view path) const;

 private:
  Found find(std::string_view method, std::string_view path, bool joined) const;
  struct Entry {
    const Route* route;
    std::vector<std::string_view> segments;
  };

  unsigned listener_;
  std::array<std::vector<Entry>, kMaxRouteSegments + 1> by_length_;
};

}  // namespace shepherd
