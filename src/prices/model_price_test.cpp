#include "prices/model_price.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(Prices, EachClassOfTokenHasItsOwn) {
  ModelPrice price{3.0, 15.0, 0.3, 3.75, "2026-11-01"};
  EXPECT_DOUBLE_EQ(*cost_of(price, PricedTokens{500'000, 100'000, 400'000, 200'000}),
                   0.5 * 3.0 + 0.1 * 15.0 + 0.4 * 0.3 + 0.2 * 3.75);
}

TEST(Prices, NothingIsGuessed) {
  ModelPrice price{3.0, 15.0, {}, {}, "2026-11-01"};
  EXPECT_TRUE(cost_of(price, PricedTokens{1, 1, 0, 0})) << "no price is needed for what was not used";
  EXPECT_FALSE(cost_of(price, PricedTokens{1, 1, 1, 0}));
  EXPECT_FALSE(cost_of(price, PricedTokens{1, 1, 0, 1}));
  price.as_of.clear();
  EXPECT_FALSE(cost_of(price, PricedTokens{1, 1, 0, 0})) << "a price without a date is none";
  EXPECT_DOUBLE_EQ(*cost_of({0.0, 0.0, {}, {}, "2026-11-01"}, PricedTokens{5, 5, 0, 0}), 0) << "free is a price";
}

}  // namespace
}  // namespace shepherd
