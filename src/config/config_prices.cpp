#include "config/config_prices.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "config/bad_config.h"
#include "config/config.h"
#include "config/nearest_word.h"

namespace shepherd {
namespace {

constexpr std::string_view kAsOf = "as_of";

struct PriceClass {
  std::string_view name;
  std::optional<double> ModelPrice::* price;
};
constexpr std::array<PriceClass, 4> kPriceClasses{{{"input", &ModelPrice::input},
                                                   {"output", &ModelPrice::output},
                                                   {"cache_read", &ModelPrice::cache_read},
                                                   {"cache_write", &ModelPrice::cache_write}}};

// YYYY-MM-DD, so that dates can be compared as text.
bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != '-') return false;
  }
  return true;
}

std::optional<double> dollars(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

Result<ModelPrice> read_price(const YAML::Node& entry) {
  if (!entry.IsMap()) return bad_config("a price is {as_of: DATE, input: …, output: …}");
  std::vector<std::string> known{std::string(kAsOf)};
  for (const PriceClass& each : kPriceClasses) known.emplace_back(each.name);
  ModelPrice price;
  for (const auto& pair : entry) {
    if (!pair.first.IsScalar() || !pair.second.IsScalar()) return bad_config("a price is one number for each name");
    const std::string& name = pair.first.Scalar();
    const std::string& text = pair.second.Scalar();
    const auto* found = std::ranges::find(kPriceClasses, name, &PriceClass::name);
    if (name == kAsOf) {
      price.as_of = text;
    } else if (found == kPriceClasses.end()) {
      std::string near = nearest_word(name, known);
      return bad_config(fmt::format("a price has no \"{}\"{}", name,
                                    near.empty() ? fmt::format("; it has {}", fmt::join(known, ", "))
                                                 : fmt::format("; did you mean \"{}\"?", near)));
    } else if (auto value = dollars(text)) {
      price.*(found->price) = value;
    } else {
      return bad_config(fmt::format("\"{}\" is a price in US dollars per million tokens, such as 3.0", name));
    }
  }
  if (price.as_of.empty()) return bad_config("a price needs \"as_of\", the date of these prices");
  if (!is_date(price.as_of)) return bad_config("\"as_of\" is a date, such as 2026-11-01");
  return price;
}

}  // namespace

Result<ModelPrice> parse_price_entry(const std::string& yaml) {
  try {
    return read_price(YAML::Load(yaml));
  } catch (const YAML::Exception& error) {
    return bad_config(fmt::format("not valid YAML: {}", error.msg));
  }
}

std::string price_entry_json(const ModelPrice& price) {
  boost::json::object entry{{kAsOf, price.as_of}};
  for (const PriceClass& each : kPriceClasses) {
    if (const auto& value = price.*(each.price)) entry[each.name] = *value;
  }
  return boost::json::serialize(entry);
}

ModelPrice price_of_backend(const Config& config, const std::string& backend) {
  auto model = config.models.find(backend);
  if (model == config.models.end()) return {};
  if (!model->second.price.as_of.empty()) return model->second.price;
  auto price = config.prices.find(model->second.model);
  return price == config.prices.end() ? ModelPrice() : price->second;
}

}  // namespace shepherd
