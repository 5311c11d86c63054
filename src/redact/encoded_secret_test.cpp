// Secrets inside base64, wherever in its groups of three bytes they begin.
#include "redact/encoded_secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/base64.h"
#include "redact/redact.h"

namespace shepherd {
namespace {

class EncodedSecret : public ::testing::Test {
 protected:
  // What is left to read in the base64 of `text` after redaction: the bytes that decode, and ~ for a mark.
  std::string left(const std::string& base64) const {
    std::string out = redactor_.redact(base64);
    std::size_t at = out.find("[redacted:");
    if (at == std::string::npos) return "all";
    return out.substr(0, at) + "~" + out.substr(out.find(']', at) + 1);
  }
  bool finds(const std::string& base64) const {
    bool found = left(base64) != "all";
    EXPECT_LE(found, redactor_.may_match(base64)) << base64;
    return found;
  }

  Redactor redactor_ = Redactor::create({}).value();
  const std::string token_ = std::string("github_") + "pat_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1234";
  const std::string key_ = std::string("-----BEGIN RSA ") + "PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Q9mB3dE5fG7\n";
};

TEST_F(EncodedSecret, IsFoundWhereverItBegins) {
  for (const std::string& secret : {token_, key_, std::string("password=hunter22x"), std::string("PASSWORD=hunter22x"),
                                    std::string("Password=hunter22x"), std::string("client_secret: 8f14e45fceea167a"),
                                    std::string("Bearer aB3dE5fG7hJ9kL1mN2pQ4rS6").replace(0, 1, "b")}) {
    for (std::size_t before = 0; before < 9; ++before) {
      std::string base64 = encode_base64(std::string(before, '\n') + secret + "\n\n");
      EXPECT_TRUE(finds(base64)) << before << " before " << secret;
      EXPECT_TRUE(finds("data: " + base64 + " end")) << before << " before " << secret;
      EXPECT_EQ(left("(" + base64 + ")").front(), '(');
      EXPECT_EQ(left("(" + base64 + ")").back(), ')');
    }
  }
}

TEST_F(EncodedSecret, ATokenIsLookedAtAsFarAsItsShapeNeeds) {
  std::string made;
  while (made.size() < 60) made += "1A2B3C4D5E6F";
  for (std::size_t before = 0; before < 9; ++before) {
    std::string token = std::string(before, '\n') + std::string("ATA") + "TT3" + made;
    EXPECT_TRUE(finds(encode_base64(token))) << before;
    EXPECT_TRUE(finds(encode_base64(token + "7A"))) << before;
    EXPECT_FALSE(finds(encode_base64(token.substr(0, token.size() - 1)))) << before;
  }
}

TEST_F(EncodedSecret, IsFoundInsideANumber) {
  for (std::size_t before = 0; before < 3; ++before) {
    std::string base64 = encode_base64(std::string(before, '\n') + key_);
    for (const char* digits : {"1", "12", "1234", "123456789012"})
      EXPECT_TRUE(finds(digits + base64)) << digits << base64;
  }
}

// Few characters tell little: they count at the beginning alone, or when they are five.
TEST_F(EncodedSecret, ShortPrefixesAreFoundWhereTheyTell) {
  const std::string made = "1A2B3C4D5E6F7A8B9C0D1A2B3C4D5E6F7A8B9C0D";
  EXPECT_TRUE(finds(encode_base64("hf_" + made)));
  EXPECT_FALSE(finds(encode_base64("\n\n\nhf_" + made)));
  EXPECT_TRUE(finds(encode_base64(std::string("gh") + "p_" + made)));
  EXPECT_FALSE(finds(encode_base64(std::string("\ngh") + "p_" + made)));
  EXPECT_TRUE(finds(encode_base64(std::string("\n\ngh") + "p_" + made)));
  EXPECT_TRUE(finds(encode_base64(std::string("\n\n\ngh") + "p_" + made)));
}

// Where a scheme's last letter and the slashes make characters that no other text has.
TEST_F(EncodedSecret, PasswordsOfUrlsAreFoundInTwoPlacesOfThree) {
  struct Case {
    const char* scheme;
    std::size_t missed;
  };
  for (auto [scheme, missed] : {Case{"https", 0}, Case{"ftp", 2}, Case{"postgresql", 1}, Case{"mongodb", 1}}) {
    for (std::size_t before = 0; before < 9; ++before) {
      std::string url = std::string(scheme) + "://joe:hunter22@example.org/";
      EXPECT_EQ(finds(encode_base64(std::string(before, '\n') + url)), before % 3 != missed) << before << scheme;
    }
  }
}

TEST_F(EncodedSecret, IsFoundInBothAlphabetsAndAsJsonSpellsIt) {
  for (std::size_t before = 0; before < 6; ++before) {
    std::string text = std::string(before, '?') + "\xff\xff\xff?>?>" + "\n" + token_ + ">?>>\xff\xfe";
    std::string base64 = encode_base64(text);
    ASSERT_NE(base64.find_first_of("+/"), std::string::npos);
    std::string for_urls = base64;
    std::ranges::replace(for_urls, '+', '-');
    std::ranges::replace(for_urls, '/', '_');
    std::string escaped;
    for (char c : base64) escaped += c == '/' ? "\\/" : std::string(1, c);
    for (const std::string& each : {base64, for_urls, escaped}) EXPECT_TRUE(finds(each)) << each;
  }
}

TEST_F(EncodedSecret, SignsOfBase64AreInside) {
  for (std::size_t before = 0; before < 6; ++before) {
    std::string base64 = encode_base64(std::string(before, '\n') + "password=a1~?~?~?~?~?~?~?~?~?~?zZ9\n");
    std::string for_urls = base64;
    std::ranges::replace(for_urls, '+', '-');
    std::ranges::replace(for_urls, '/', '_');
    for (const std::string& each : {base64, for_urls}) {
      ASSERT_NE(each.find_first_of("/_"), std::string::npos);
      EXPECT_EQ(redactor_.redact(each).find(each.substr(each.size() - 12, 6)), std::string::npos) << each;
    }
  }
}

TEST_F(EncodedSecret, GoesOnInTheNextLine) {
  std::string key = std::string("-----BEGIN RSA ") + "PRIVATE KEY-----\n";
  for (int i = 0; i < 12; ++i) key += "MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAaBbCcDdEeF\n";
  key += std::string("-----END RSA ") + "PRIVATE KEY-----\n";
  std::string base64 = encode_base64(key);
  auto wrapped = [&](std::size_t width, const std::string& end) {
    std::string out;
    for (std::size_t at = 0; at < base64.size(); at += width) out += (at == 0 ? "" : end) + base64.substr(at, width);
    return out;
  };
  for (const char* end : {"\n", "\r\n", "\\n", "\\r\\n", "\\\\n"}) {
    for (std::size_t width : {56U, 64U, 76U}) {
      std::string shown = redactor_.redact(wrapped(width, end));
      EXPECT_EQ(shown.find(base64.substr(base64.size() - 60, 20)), std::string::npos) << width << end << shown;
      EXPECT_EQ(shown.find(base64.substr(800, 20)), std::string::npos) << width << end;
    }
  }
  std::string whole = redactor_.redact(base64);
  EXPECT_LT(whole.size(), 60U) << whole;
}

TEST_F(EncodedSecret, OrdinaryTextInBase64Stays) {
  for (const char* text : {"just a text without any secret in it", "password: required", "http://example.org/path?a=b",
                           "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl", "token=12345678"}) {
    for (std::size_t before = 0; before < 3; ++before) {
      std::string base64 = encode_base64(std::string(before, 'x') + text);
      EXPECT_EQ(redactor_.redact(base64), base64) << text;
    }
  }
}

}  // namespace
}  // namespace shepherd
