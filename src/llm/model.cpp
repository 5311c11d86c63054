#include "llm/model.h"

#include <algorithm>
#include <array>

#include "llm/model_config.h"

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 4> kRoles{"system", "user", "assistant", "tool"};

}  // namespace

std::string_view name(Role role) {
  return kRoles[static_cast<std::size_t>(role)];
}

std::optional<Role> role_named(std::string_view name) {
  for (std::size_t at = 0; at < kRoles.size(); ++at) {
    if (kRoles[at] == name) return static_cast<Role>(at);
  }
  return std::nullopt;
}

std::string_view name(Finish finish) {
  switch (finish) {
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
    case Finish::tool_calls:
      return "tool_calls";
    case Finish::filtered:
    case Finish::refused:
      break;
  }
  return "content_filter";
}

std::optional<double> cost_of(const ModelPrice& price, const ModelUsage& usage) {
  if (!usage.known) return std::nullopt;
  // A backend can count more tokens of the cache than of the input.
  auto count = [](std::int64_t tokens) { return static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 0)); };
  return cost_of(price, PricedTokens{count(usage.input - usage.cache_read - usage.cache_write), count(usage.output),
                                     count(usage.cache_read), count(usage.cache_write)});
}

}  // namespace shepherd
