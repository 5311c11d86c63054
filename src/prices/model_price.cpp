#include "prices/model_price.h"

namespace shepherd {

std::optional<double> cost_of(const ModelPrice& price, const PricedTokens& tokens) {
  if (price.as_of.empty()) return std::nullopt;
  double dollars = 0;
  bool priced = true;
  auto add = [&](std::uint64_t count, const std::optional<double>& per_million) {
    if (count == 0) return;
    priced = priced && per_million.has_value();
    dollars += static_cast<double>(count) * per_million.value_or(0) / 1e6;
  };
  add(tokens.input, price.input);
  add(tokens.cache_read, price.cache_read);
  add(tokens.cache_write, price.cache_write);
  add(tokens.output, price.output);
  return priced ? std::optional(dollars) : std::nullopt;
}

}  // namespace shepherd
