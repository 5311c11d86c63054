#include "driver/agent_traits.h"

#include <array>

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 3> kMeans{"none", "runner", "own"};
constexpr std::array<std::string_view, 3> kToldUses{"none", "tokens", "money"};

}  // namespace

std::string_view name(Means means) {
  return kMeans[static_cast<std::size_t>(means)];
}

std::string_view name(ToldUse use) {
  return kToldUses[static_cast<std::size_t>(use)];
}

}  // namespace shepherd
