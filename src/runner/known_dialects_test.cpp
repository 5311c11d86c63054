#include "runner/known_dialects.h"

#include <gtest/gtest.h>

#include "driver/grpc/dialect.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

const LaunchOptions kTypedFirst{{std::string(kFirstDialectOption), "typed"}};

LaunchOptions options_for(const KnownDialects& dialects, const std::string& address, LaunchOptions options = {}) {
  dialects.add_to(options, address);
  return options;
}

TEST(KnownDialects, TheDialectThatWasTakenIsOfferedFirst) {
  KnownDialects dialects;
  EXPECT_EQ(options_for(dialects, "a:1"), LaunchOptions());
  LaunchOptions second = kTypedFirst;
  second.emplace(kRefusedOption, "json: INTERNAL");
  dialects.answered(second, "a:1");
  EXPECT_EQ(options_for(dialects, "a:1"), kTypedFirst) << "the other one is tried again if need be";
  EXPECT_EQ(options_for(dialects, "b:1"), LaunchOptions());
  LaunchOptions json{{std::string(kDialectOption), "json"}};
  EXPECT_EQ(options_for(dialects, "a:1", json), json) << "the configuration says which";
}

TEST(KnownDialects, AnotherAgentAtTheAddressIsNoticed) {
  KnownDialects dialects;
  dialects.answered(kTypedFirst, "a:1");
  dialects.answered({{std::string(kFirstDialectOption), "json"}}, "a:1");
  EXPECT_EQ(options_for(dialects, "a:1"), LaunchOptions());
}

TEST(KnownDialects, ItsSizeHasABound) {
  KnownDialects dialects;
  for (std::size_t i = 0; i <= kMaxKnownDialects; ++i) dialects.answered(kTypedFirst, std::to_string(i));
  EXPECT_EQ(options_for(dialects, "0"), kTypedFirst);
  EXPECT_EQ(options_for(dialects, std::to_string(kMaxKnownDialects)), LaunchOptions());
}

}  // namespace
}  // namespace shepherd
