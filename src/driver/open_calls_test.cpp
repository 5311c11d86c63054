#include "driver/open_calls.h"

#include <gtest/gtest.h>

#include "driver/limits.h"

namespace shepherd {
namespace {

TEST(OpenCalls, AreBounded) {
  OpenCalls calls;
  for (std::size_t i = 0; i < kMaxOpenCalls + 10; ++i) calls.open("c" + std::to_string(i), {"T", "", "", 0});
  EXPECT_EQ(calls.find("c9"), nullptr);
  EXPECT_NE(calls.find("c10"), nullptr);
  EXPECT_TRUE(calls.close("c10"));
  EXPECT_FALSE(calls.close("c10"));
}

}  // namespace
}  // namespace shepherd
