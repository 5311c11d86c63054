#include "cli/cost_text.h"

#include <fmt/format.h>

namespace shepherd {

std::string cost_text(double usd, bool unpriced) {
  if (usd <= 0) return unpriced ? "unpriced" : "";
  return fmt::format("${:.2f}{}", usd, unpriced ? "+" : "");
}

}  // namespace shepherd
