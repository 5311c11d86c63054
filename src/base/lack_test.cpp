#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/lack_for_test.h"

namespace shepherd {
namespace {

// Sets a variable for its lifetime; nullptr removes it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Lack, MustBeNamedInContinuousIntegration) {
  Variable elsewhere("CI", nullptr);
  EXPECT_TRUE(may_lack("landlock"));
  Variable ci("CI", "true"), unnamed("SHEPHERD_LACKS", nullptr);
  EXPECT_FALSE(may_lack("landlock"));
  Variable named("SHEPHERD_LACKS", "landlock,fallocate");
  EXPECT_TRUE(may_lack("landlock"));
  EXPECT_TRUE(may_lack("fallocate"));
  EXPECT_FALSE(may_lack("lock"));
  EXPECT_FALSE(may_lack("confinement"));
}

}  // namespace
}  // namespace shepherd
