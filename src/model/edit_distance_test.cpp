#include "model/edit_distance.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(EditDistance, CountsWhatIsAddedLeftOutAndChanged) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("a", "b"), 1U);
  EXPECT_EQ(edit_distance("abc", "abXc"), 1U);
  EXPECT_EQ(edit_distance("Xabc", "abc"), 1U);
  EXPECT_EQ(edit_distance("abcX", "abc"), 1U);
  EXPECT_EQ(edit_distance("abc", "Xabc"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 2U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2U);
  EXPECT_EQ(edit_distance("intention", "execution"), 5U);
}

}  // namespace
}  // namespace shepherd
