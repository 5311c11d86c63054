#include "driver/registry/registry.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(Registry, KnowsItsDrivers) {
  for (std::string_view name : driver_names()) {
    auto driver = make_driver(name);
    ASSERT_NE(driver, nullptr);
    EXPECT_EQ(driver->name(), name);
  }
  EXPECT_EQ(make_driver("nobody"), nullptr);
}

TEST(Registry, NamesEveryAgentThatHasAFolder) {
  EXPECT_EQ(driver_names(),
            (std::vector<std::string_view>{"claude", "gemini-stream", "grpc", "opencode", "opencode-run", "text"}));
}

}  // namespace
}  // namespace shepherd
