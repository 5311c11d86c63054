#include "redact/exact_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/base64.h"
#include "redact/limits.h"
#include "redact/redact.h"
#include "redact/redacted_name.h"

namespace shepherd {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

TEST(ExactSecrets, FormsInWhichAValueTravels) {
  const std::string value = "a?>~\"/ b_-.z";
  auto forms = secret_forms(value);
  EXPECT_THAT(forms, Contains(value));
  EXPECT_THAT(forms, Contains("a?>~\\\"/ b_-.z"));
  EXPECT_THAT(forms, Contains("a%3F%3E~%22%2F%20b_-.z"));
  for (std::size_t before = 0; before < 3; ++before) {
    for (std::size_t after = 0; after < 3; ++after) {
      std::string encoded = encode_base64(std::string(before, 'x') + value + std::string(after, 'y'));
      std::string for_urls = encoded;
      std::ranges::replace(for_urls, '+', '-');
      std::ranges::replace(for_urls, '/', '_');
      for (const std::string& text : {encoded, for_urls}) {
        auto found = std::ranges::find_if(
            forms, [&](const std::string& form) { return form.size() > 13 && text.find(form) != std::string::npos; });
        EXPECT_NE(found, forms.end()) << before << " before, " << after << " after: " << text;
      }
    }
  }
  EXPECT_TRUE(
      std::ranges::is_sorted(forms, {}, [](const std::string& form) { return -static_cast<int>(form.size()); }));
  EXPECT_EQ(std::ranges::adjacent_find(forms), forms.end()) << "each once";
}

TEST(ExactSecrets, ShortValuesHaveNone) {
  EXPECT_THAT(secret_forms(std::string(kMinSecretBytes - 1, 'x')), IsEmpty());
  EXPECT_THAT(secret_forms("abcdef"), Contains("abcdef"));
  for (const std::string& form : secret_forms("abcdef")) EXPECT_GE(form.size(), kMinSecretBytes);
}

TEST(ExactSecrets, ThePartThatNoSpellingChanges) {
  EXPECT_EQ(unescaped_part("ab\"cde\\f/ghij k"), "ghij");
  EXPECT_EQ(unescaped_part("abc\"def"), "abc") << "the first of the longest";
  EXPECT_EQ(unescaped_part("ab\x7f"
                           "cde"),
            "cde");
  EXPECT_EQ(unescaped_part("a b!~"), "b!~");
  EXPECT_EQ(unescaped_part("\xC3\xA4xy"), "xy");
  EXPECT_EQ(unescaped_part("\"\\/ "), "");
  EXPECT_EQ(unescaped_part("whole"), "whole");
}

TEST(ExactSecrets, PatternsThatMatchNothingReplaceNothing) {
  RedactOptions options;
  options.patterns = {"\\b"};
  Redactor redactor = Redactor::create(options).value();
  EXPECT_EQ(redactor.redact("ab cd"), "ab cd");
  options.patterns = {"\\bcd|\\b"};
  redactor = Redactor::create(options).value();
  EXPECT_EQ(redactor.redact("ab cd"), "ab [redacted:pattern:2]");
}

TEST(ExactSecrets, APatternWithoutALiteralIsAlwaysTried) {
  RedactOptions options;
  options.patterns = {"[0-9]{5}"};
  Redactor redactor = Redactor::create(options).value();
  EXPECT_TRUE(redactor.may_match("12345"));
  EXPECT_EQ(redactor.redact("a 12345 b"), "a [redacted:pattern:5] b");
  options.patterns = {"abc[0-9]"};
  redactor = Redactor::create(options).value();
  EXPECT_FALSE(redactor.may_match("nothing of it"));
  EXPECT_TRUE(redactor.may_match("abc1"));
  options.patterns = {};
  options.secrets = {"\"\"\"ab\"\"\""};
  redactor = Redactor::create(options).value();
  EXPECT_TRUE(redactor.may_match("anything")) << "too little of it is the same in every spelling";
}

TEST(ExactSecrets, TheBeginningOfOneAtTheEndOfAText) {
  RedactOptions options;
  options.secrets = {"abcabdef", "bdxyzw", "qrstu"};
  Redactor redactor = Redactor::create(options).value();
  auto waits = [&](std::string_view text) { return redactor.beginning_of_secret(text); };
  EXPECT_EQ(waits("x"), 0U);
  EXPECT_EQ(waits(""), 0U);
  EXPECT_EQ(waits("xqrs"), 0U) << "too short to be one";
  EXPECT_EQ(waits("xxa"), 1U);
  EXPECT_EQ(waits("bbab"), 2U);
  EXPECT_EQ(waits("axab"), 2U) << "not the first letter that fits";
  EXPECT_EQ(waits("abcab"), 5U) << "the longer one";
  EXPECT_EQ(waits("abcabd"), 6U);
  EXPECT_EQ(waits("xbd"), 2U);
  EXPECT_EQ(waits("xabcabde"), 7U);
  EXPECT_EQ(waits("abcabdef"), 0U) << "it is there as a whole";
  EXPECT_EQ(waits("abcabdeff"), 0U);
  options.enabled = false;
  EXPECT_EQ(Redactor::create(options)->beginning_of_secret("xxa"), 0U);
}

TEST(RedactedName, StandsForOneNameOnly) {
  Redactor redactor = Redactor::create({}).value();
  EXPECT_EQ(redacted_name("plain", &redactor), "plain");
  EXPECT_EQ(redacted_name("jane@example.org", nullptr), "jane@example.org");
  EXPECT_EQ(redacted_name("jane@example.org", &redactor), "redacted:13d855ce931073d4924ac377cda0e9a5");
}

// A secret that begins where the text does, spelled in another way.
TEST(Redact, SpelledSecretsAtTheBeginningOfAText) {
  Redactor redactor = Redactor::create({}).value();
  const std::string rest = "hp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1234";
  for (const std::string& text : {"%67" + rest, "g\\\n" + rest}) {
    EXPECT_TRUE(redactor.may_match(text)) << text;
    EXPECT_EQ(redactor.redact(text).find("hp_"), std::string::npos) << redactor.redact(text);
  }
}

}  // namespace
}  // namespace shepherd
