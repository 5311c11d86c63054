#include "llm/model.h"

#include <gtest/gtest.h>

#include "llm/backend_breaker.h"
#include "llm/limits.h"
#include "llm/model_config.h"

namespace shepherd {
namespace {

TEST(ModelPrice, AddsUpEveryClassOfToken) {
  ModelPrice price{3.0, 15.0, 0.3, 3.75, "2026-11-01"};
  ModelUsage usage{true, 1'000'000, 100'000, 400'000, 100'000, 0};
  EXPECT_DOUBLE_EQ(*cost_of(price, usage), 0.5 * 3.0 + 0.1 * 15.0 + 0.4 * 0.3 + 0.1 * 3.75);
}

TEST(ModelPrice, GuessesNothing) {
  ModelPrice price{3.0, 15.0, {}, {}, "2026-11-01"};
  ModelUsage usage{true, 1'000, 100, 0, 0, 0};
  EXPECT_TRUE(cost_of(price, usage)) << "no price is needed for what was not used";
  usage.cache_read = 1;
  EXPECT_FALSE(cost_of(price, usage));
  usage = {false, 1'000, 100, 0, 0, 0};
  EXPECT_FALSE(cost_of(price, usage)) << "the backend did not say";
  usage.known = true;
  price.as_of.clear();
  EXPECT_FALSE(cost_of(price, usage));
  EXPECT_DOUBLE_EQ(*cost_of({0.0, 0.0, {}, {}, "2026-11-01"}, usage), 0) << "free is a price";
  EXPECT_GE(*cost_of({3.0, 15.0, 1.0, {}, "2026-11-01"}, ModelUsage{true, 5, 1, 9, 0, 0}), 0)
      << "a backend that counts wrong costs nothing negative";
}

TEST(ModelNames, AreOpenAis) {
  for (const char* role : {"system", "user", "assistant", "tool"}) EXPECT_EQ(name(*role_named(role)), role);
  EXPECT_FALSE(role_named("function"));
  EXPECT_EQ(name(Finish::stop), "stop");
  EXPECT_EQ(name(Finish::length), "length");
  EXPECT_EQ(name(Finish::tool_calls), "tool_calls");
  EXPECT_EQ(name(Finish::filtered), "content_filter");
  EXPECT_EQ(name(Finish::refused), "content_filter");
}

TEST(BackendBreaker, LetsABackendRestThatKeepsFailing) {
  BackendBreaker breaker;
  for (int i = 1; i < kModelBreakerFailures; ++i) breaker.failed(0);
  EXPECT_TRUE(breaker.may_try(0));
  breaker.succeeded();
  for (int i = 1; i < kModelBreakerFailures; ++i) breaker.failed(0);
  EXPECT_TRUE(breaker.may_try(0)) << "failures in a row count";
  breaker.failed(0);
  EXPECT_FALSE(breaker.may_try(0));
  EXPECT_EQ(breaker.rests_until_ms(), kModelBreakerPause.count());
  EXPECT_FALSE(breaker.may_try(kModelBreakerPause.count() - 1));
}

TEST(BackendBreaker, OneCallDecidesAfterThePause) {
  BackendBreaker breaker;
  for (int i = 0; i < kModelBreakerFailures; ++i) breaker.failed(0);
  std::int64_t now = kModelBreakerPause.count();
  EXPECT_TRUE(breaker.may_try(now));
  breaker.trying(now);
  EXPECT_FALSE(breaker.may_try(now)) << "the others wait for it";
  breaker.failed(now + 1);
  EXPECT_FALSE(breaker.may_try(now + kModelBreakerPause.count()));
  EXPECT_TRUE(breaker.may_try(now + 1 + kModelBreakerPause.count()));
  breaker.trying(now + 1 + kModelBreakerPause.count());
  breaker.succeeded();
  EXPECT_TRUE(breaker.may_try(now + 2 + kModelBreakerPause.count()));
}

}  // namespace
}  // namespace shepherd
