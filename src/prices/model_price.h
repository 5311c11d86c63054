// What models cost: prices that a person wrote down with their date. A cost is known only if every price that it needs
// is; nothing is guessed.
// Threads: value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace shepherd {

// US dollars per million tokens, as of a date. A class without a price makes tokens of it unpriced.
struct ModelPrice {
  std::optional<double> input, output, cache_read, cache_write;
  std::string as_of;  // "2026-11-01"; empty: no price is known
};

// By the model's name, as the agent or the backend calls it.
using PriceTable = std::map<std::string, ModelPrice, std::less<>>;

// Tokens by class; none is counted in two of them.
struct PricedTokens {
  std::uint64_t input = 0, output = 0, cache_read = 0, cache_write = 0;
};

// What they cost; nullopt if a price that they need is not known.
std::optional<double> cost_of(const ModelPrice& price, const PricedTokens& tokens);

}  // namespace shepherd
