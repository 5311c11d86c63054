#include "llm/model.h"

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
  if (!usage.known || price.as_of.empty()) return std::nullopt;
  double dollars = 0;
  bool priced = true;
  auto add = [&](std::int64_t tokens, const std::optional<double>& per_million) {
    if (tokens <= 0) return;
    if (!per_million) {
      priced = false;
      return;
    }
    dollars += static_cast<double>(tokens) * *per_million / 1e6;
  };
  add(usage.input - usage.cache_read - usage.cache_write, price.input);
  add(usage.cache_read, price.cache_read);
  add(usage.cache_write, price.cache_write);
  add(usage.output, price.output);
  return priced ? std::optional(dollars) : std::nullopt;
}

}  // namespace shepherd
