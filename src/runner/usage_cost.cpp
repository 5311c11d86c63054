#include "runner/usage_cost.h"

#include <algorithm>
#include <utility>

#include "json/scan.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

PricedTokens tokens_in(std::string_view usage) {
  auto count = [&](std::string_view key) { return count_value(find_member(usage, key)).value_or(0); };
  return {count("inputTokens"), count("outputTokens"), count("cacheReadTokens"), count("cacheWriteTokens")};
}

void add_tokens(PricedTokens& sum, const PricedTokens& part) {
  sum.input += part.input;
  sum.output += part.output;
  sum.cache_read += part.cache_read;
  sum.cache_write += part.cache_write;
}

bool covers(const PricedTokens& sum, const PricedTokens& total) {
  return sum.input >= total.input && sum.output >= total.output && sum.cache_read >= total.cache_read &&
         sum.cache_write >= total.cache_write;
}

}  // namespace

UsageCost cost_of_usage(std::string_view usage_data, const PriceTable& prices) {
  UsageCost cost;
  PricedTokens sum;
  double usd = 0;
  JsonMembers models(find_member(usage_data, "models"));
  while (models.next()) {
    PricedTokens tokens = tokens_in(models.value());
    if (total_tokens(models.value()) == 0) continue;
    std::string model = unescape(models.key()).value_or("");
    auto price = prices.find(model);
    auto part = price == prices.end() ? std::nullopt : cost_of(price->second, tokens);
    if (!part) {
      cost.missing = price == prices.end() ? "the model " + model : "each class of tokens of the model " + model;
      return cost;
    }
    usd += *part;
    add_tokens(sum, tokens);
    if (cost.as_of.empty() || price->second.as_of < cost.as_of) cost.as_of = price->second.as_of;
  }
  if (!covers(sum, tokens_in(usage_data))) {
    cost.missing = "tokens whose model the agent does not name";
  } else {
    cost.usd = usd;
  }
  return cost;
}

void UsageCosts::add_to(DriverEvent& event, const AgentTraits& traits) {
  if (event.type != EventType::usage) return;
  std::string_view data = find_member(event.json, "data");
  if (data.size() < 2 || total_tokens(data) == 0 || !find_member(data, "costUSD").empty()) return;
  UsageCost cost = cost_of_usage(data, prices_);
  bool told_later = traits.use == ToldUse::money && find_member(data, "partial") == "true";
  if (!cost.usd && told_later) return;
  std::string members = object_text([&](JsonObject& object) {
    if (cost.usd) {
      object.number("costUSD", *cost.usd);
      object.object("priced", [&](JsonObject& priced) { priced.text("asOf", cost.as_of); });
    } else {
      object.flag("unpriced", true);
    }
  });
  if (cost.usd) {
    std::string session = text_member(event.json, "sessionID");
    if (by_session_.size() >= kMaxUsageSessions && !by_session_.contains(session)) session.clear();
    by_session_[session] = *cost.usd;
  } else {
    missing_ = std::move(cost.missing);
  }
  std::size_t end = static_cast<std::size_t>(data.data() - event.json.data()) + data.size() - 1;
  event.json.insert(end, "," + members.substr(1, members.size() - 2));
}

std::optional<double> UsageCosts::cost_usd() const {
  if (by_session_.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [session, cost] : by_session_) sum += cost;
  return sum;
}

}  // namespace shepherd
