// Adds to an agent's usage events what they do not tell: the cost of its tokens at the configuration's prices, with
// their date, or that it is not known.
//
// An agent's own cost is kept as it is. Nothing is guessed: if one model, or one class of its tokens, has no price, or
// if the tokens are not told by model, the use is unpriced.
// Threads: value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "prices/model_price.h"

namespace shepherd {

// What the configuration's prices say of a usage event's data.
struct UsageCost {
  std::optional<double> usd;
  std::string as_of;    // the oldest date of the prices that were used
  std::string missing;  // why there is no cost: "the model m"; empty if there is one
};
UsageCost cost_of_usage(std::string_view usage_data, const PriceTable& prices);

class UsageCosts {
 public:
  explicit UsageCosts(PriceTable prices) : prices_(std::move(prices)) {}

  // Adds `costUSD` and `priced`, or `unpriced`, to the data of a usage event that has tokens and no cost. Other events
  // are left alone. In the middle of a turn, an agent that tells money is not unpriced: it may tell its cost later.
  void add_to(DriverEvent& event, const AgentTraits& traits);

  // What all sessions have cost at these prices so far; nullopt if that was never needed.
  std::optional<double> cost_usd() const;
  // What the newest event without a cost has no price for; empty if there was none.
  std::string_view missing() const { return missing_; }

 private:
  PriceTable prices_;
  std::map<std::string, double, std::less<>> by_session_;
  std::string missing_;
};

}  // namespace shepherd
