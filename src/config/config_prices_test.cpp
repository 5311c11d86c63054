#include "config/config_prices.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace shepherd {
namespace {

std::string price_mistake(const std::string& yaml) {
  auto price = parse_price_entry(yaml);
  return price ? "" : price.error().message;
}

TEST(ConfigPrices, HaveADateAndClasses) {
  auto price = parse_price_entry("{as_of: 2026-11-01, input: 1.25, output: 10, cache_read: 0.125}");
  ASSERT_TRUE(price) << price.error().message;
  EXPECT_EQ(price->as_of, "2026-11-01");
  EXPECT_EQ(price->input, 1.25);
  EXPECT_EQ(price->output, 10);
  EXPECT_EQ(price->cache_read, 0.125);
  EXPECT_FALSE(price->cache_write);
  auto again = parse_price_entry(price_entry_json(*price));
  ASSERT_TRUE(again);
  EXPECT_EQ(price_entry_json(*again), price_entry_json(*price));
}

TEST(ConfigPrices, MistakesAreExplained) {
  EXPECT_NE(price_mistake("{input: 3}").find("needs \"as_of\""), std::string::npos);
  EXPECT_NE(price_mistake("{as_of: yesterday, input: 3}").find("is a date, such as"), std::string::npos);
  EXPECT_NE(price_mistake("{as_of: 2026-11-01, input: many}").find("dollars per million"), std::string::npos);
  EXPECT_NE(price_mistake("{as_of: 2026-11-01, inptu: 1}").find("did you mean \"input\""), std::string::npos);
  EXPECT_NE(price_mistake("[1]").find("a price is {as_of"), std::string::npos);
}

// Names of models have dots and slashes.
TEST(ConfigPrices, AreReadFromTheSettingsByTheNameOfTheModel) {
  ConfigInputs inputs;
  inputs.flags = {{"prices", "{gpt-5.1: {as_of: 2026-11-01, input: 1}, a/b:1: {as_of: 2026-11-02, output: 2}}"}};
  auto loaded = load_config(inputs, [](const char*) { return std::string(); });
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->config.prices.size(), 2U);
  EXPECT_EQ(loaded->config.prices.at("gpt-5.1").input, 1);
  EXPECT_EQ(loaded->config.prices.at("a/b:1").as_of, "2026-11-02");
}

TEST(ConfigPrices, ABackendWithoutAPriceHasThatOfItsModel) {
  Config config;
  config.prices["m"] = {1.0, 2.0, {}, {}, "2026-11-01"};
  config.models["local"].model = "m";
  EXPECT_EQ(price_of_backend(config, "local").input, 1.0);
  config.models["local"].price = {3.0, {}, {}, {}, "2026-10-01"};
  EXPECT_EQ(price_of_backend(config, "local").input, 3.0) << "its own comes first";
  config.models["other"].model = "unknown";
  EXPECT_TRUE(price_of_backend(config, "other").as_of.empty());
  EXPECT_TRUE(price_of_backend(config, "nothing").as_of.empty());
}

}  // namespace
}  // namespace shepherd
