// Leaves out a test that this machine cannot run. Under CI=true that is a failure, unless SHEPHERD_LACKS names what the
// machine lacks, as in SHEPHERD_LACKS=landlock,fallocate. Threads: any.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace shepherd {

inline bool may_lack(std::string_view what) {
  const char* ci = std::getenv("CI");
  const char* named = std::getenv("SHEPHERD_LACKS");
  if (ci == nullptr || std::string_view(ci) != "true") return true;
  return named != nullptr && ("," + std::string(named) + ",").find("," + std::string(what) + ",") != std::string::npos;
}

}  // namespace shepherd

// LEAVE_OUT_WITHOUT("landlock") << "what it is needed for"; leaves the test, in a function that returns nothing.
#define LEAVE_OUT_WITHOUT(what)                                                                               \
  if (!shepherd::may_lack(what)) FAIL() << "this machine lacks " << (what) << "; SHEPHERD_LACKS can name it"; \
  GTEST_SKIP() << "without " << (what) << ": "
