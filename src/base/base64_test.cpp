#include "base/base64.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(Base64Url, Decodes) {
  EXPECT_EQ(decode_base64url("aGk"), "hi");
  EXPECT_EQ(decode_base64url("aGk="), "hi");
  EXPECT_EQ(decode_base64url("-_8"), "\xfb\xff");
  EXPECT_EQ(decode_base64url("a"), std::nullopt);
  EXPECT_EQ(decode_base64url("a+b/"), std::nullopt);
}

TEST(Base64, HasTwoAlphabets) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(255 - i));
  for (std::size_t cut = 0; cut < 4; ++cut) {
    std::string some = bytes.substr(cut);
    std::string standard = encode_base64(some), for_urls = encode_base64url(some);
    EXPECT_NE(standard.find('+'), std::string::npos);
    EXPECT_NE(standard.find('/'), std::string::npos);
    EXPECT_EQ(for_urls.find_first_of("+/="), std::string::npos);
    EXPECT_EQ(decode_base64(standard), some);
    EXPECT_EQ(decode_base64url(for_urls), some);
    EXPECT_EQ(decode_base64(for_urls), std::nullopt);
  }
}

}  // namespace
}  // namespace shepherd
