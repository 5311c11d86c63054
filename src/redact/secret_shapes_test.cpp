// The shapes at their bounds: one character fewer is no secret. The corpus in tests/golden has them as they are found.
#include "redact/secret_shapes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/base64.h"
#include "redact/redact.h"

namespace shepherd {
namespace {

// Characters that every issuer's alphabet has: digits, and letters that are hexadecimal.
std::string made(std::size_t size) {
  constexpr std::string_view kPattern = "1A2B3C4D5E6F7A8B9C0D";
  std::string out;
  while (out.size() < size) out += kPattern;
  out.resize(size);
  return out;
}

class SecretShapes : public ::testing::Test {
 protected:
  std::string redacted(std::string_view text) const { return redactor_.redact(text); }
  std::string whole(std::string_view kind, std::size_t size) const {
    return "[redacted:" + std::string(kind) + ":" + std::to_string(size) + "]";
  }
  // A secret is what the text becomes, and its beginning of one character less is none.
  void expect_least(const std::string& text, const std::string& shown) const {
    EXPECT_EQ(redacted(text), shown);
    std::string shorter = text.substr(0, text.size() - 1);
    EXPECT_EQ(redacted(shorter), shorter);
  }

  Redactor redactor_ = Redactor::create({}).value();
};

struct Issued {
  std::string_view prefix;
  std::string_view kind;
  std::size_t least;  // characters behind the prefix
  bool at_start;      // no part of a longer word
};

// As their issuers make them.
constexpr Issued kIssued[] = {
    {"sk-ant-", "api_key", 16, true},
    {"sk-", "api_key", 20, true},
    {"sk_live_", "api_key", 16, true},
    {"rk_live_", "api_key", 16, true},
    {"sk_test_", "api_key", 16, true},
    {"rk_test_", "api_key", 16, true},
    {"AIza", "api_key", 35, true},
    {"AKIA", "api_key", 16, true},
    {"ASIA", "api_key", 16, true},
    {"ghp_", "token", 30, false},
    {"gho_", "token", 30, false},
    {"ghu_", "token", 30, false},
    {"ghs_", "token", 30, false},
    {"ghr_", "token", 30, false},
    {"github_pat_", "token", 22, false},
    {"glpat-", "token", 20, false},
    {"npm_", "token", 36, true},
    {"shp_", "token", 16, true},
    {"shs_", "token", 16, true},
    {"sht_", "token", 16, true},
    {"shl_", "token", 16, true},
    {"whsec_", "secret", 24, true},
    {"hf_", "token", 30, true},
    {"dop_v1_", "token", 40, true},
    {"pypi-AgE", "token", 50, true},
    {"dor_v1_", "token", 40, true},
    {"doo_v1_", "token", 40, true},
    {"gldt-", "token", 20, false},
    {"glrt-", "token", 20, false},
    {"glft-", "token", 20, false},
    {"glptt-", "token", 20, false},
    {"glcbt-", "token", 20, false},
    {"glimt-", "token", 20, false},
    {"gloas-", "token", 20, false},
    {"glsoat-", "token", 20, false},
    {"glagent-", "token", 20, false},
    {"ya29.", "token", 30, true},
    {"GOCSPX-", "secret", 20, true},
    {"key-", "api_key", 32, true},
    {"rubygems_", "api_key", 40, true},
    {"dckr_pat_", "token", 20, true},
    {"dckr_oat_", "token", 20, true},
    {"r8_", "token", 30, true},
    {"gsk_", "api_key", 32, true},
    {"pplx-", "api_key", 32, true},
    {"xai-", "api_key", 32, true},
    {"nvapi-", "api_key", 40, true},
    {"HRKU-", "api_key", 30, true},
    {"hvs.", "token", 20, true},
    {"hvb.", "token", 20, true},
    {"dp.pt.", "token", 30, true},
    {"dp.ct.", "token", 30, true},
    {"dp.sa.", "token", 30, true},
    {"dp.st.", "token", 30, true},
    {"dapi", "token", 32, true},
    {"pscale_tkn_", "token", 30, true},
    {"pscale_pw_", "password", 30, true},
    {"sbp_", "token", 32, true},
    {"NRAK-", "api_key", 20, true},
    {"glsa_", "token", 32, true},
    {"glc_", "token", 24, true},
    {"sntrys_", "token", 30, true},
    {"sntryu_", "token", 40, true},
    {"lin_api_", "api_key", 30, true},
    {"ntn_", "token", 40, true},
    {"figd_", "token", 30, true},
    {"PMAK-", "api_key", 40, true},
    {"shpat_", "token", 30, true},
    {"shpss_", "secret", 30, true},
    {"shpca_", "token", 30, true},
    {"shppa_", "token", 30, true},
    {"sq0atp-", "token", 20, true},
    {"sq0csp-", "secret", 30, true},
    {"ATATT3", "token", 60, true},
    {"tskey-", "token", 20, true},
    {"xkeysib-", "api_key", 40, true},
    {"AGE-SECRET-KEY-1", "private_key", 50, true},
    {"v1.0-", "token", 60, true},
    {"xapp-", "token", 20, true},
    {"xoxa-", "token", 10, true},
    {"xoxb-", "token", 10, true},
    {"xoxc-", "token", 10, true},
    {"xoxd-", "token", 10, true},
    {"xoxe-", "token", 10, true},
    {"xoxo-", "token", 10, true},
    {"xoxp-", "token", 10, true},
    {"xoxr-", "token", 10, true},
    {"xoxs-", "token", 10, true},
};

TEST_F(SecretShapes, TokensOfEveryIssuerHaveALeastLength) {
  for (const auto& [prefix, kind, least, at_start] : kIssued) {
    SCOPED_TRACE(prefix);
    std::string token = std::string(prefix) + made(least);
    expect_least(token, whole(kind, token.size()));
    EXPECT_EQ(redacted("(" + token + ")"), "(" + whole(kind, token.size()) + ")");
    std::string longer = "x" + token;
    EXPECT_EQ(redacted(longer), at_start ? longer : "x" + whole(kind, token.size()));
  }
}

TEST_F(SecretShapes, ATokenIsNoNameInLetters) {
  const std::string prefix = std::string("gh") + "p_";
  EXPECT_EQ(redacted(prefix + std::string(40, 'a')), prefix + std::string(40, 'a'));
  EXPECT_EQ(redacted(prefix + std::string(29, 'a') + "B"), whole("token", 34)) << "both cases, and as long as a key";
  const std::string other = std::string("np") + "m_";
  EXPECT_EQ(redacted(other + std::string(35, 'a') + "1"), whole("token", 40));
  const std::string short_one = std::string("gl") + "pat-";
  EXPECT_EQ(redacted(short_one + std::string(28, 'a') + "B"), short_one + std::string(28, 'a') + "B");
  EXPECT_EQ(redacted(short_one + std::string(29, 'a') + "B"), whole("token", 36));
  const std::string kebab = std::string("sk") + "-";
  EXPECT_EQ(redacted(kebab + made(15) + "-" + made(15)), kebab + made(15) + "-" + made(15));
  EXPECT_EQ(redacted(kebab + made(16) + "-abc"), whole("api_key", 23));
}

TEST_F(SecretShapes, DottedTokensHaveTwoLongParts) {
  expect_least("SG." + made(16) + "." + made(16), whole("api_key", 36));
  expect_least("pat" + made(14) + "." + made(60), whole("token", 78));
  for (const std::string& text : {"SG." + made(15) + "." + made(16), "SG." + made(16) + "-" + made(16),
                                  "pat" + made(13) + "." + made(60), "SG." + made(40)}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST_F(SecretShapes, InfixTokensHaveDigitsBefore) {
  expect_least("12345678:AA" + made(32), whole("token", 43));
  std::string text = "1234567:AA" + made(32);
  EXPECT_EQ(redacted(text), text);
  expect_least("1a2b3c4d5e6f7g.atlasv1." + made(40), whole("token", 63));
  text = "1a2b3c4d5e6f7.atlasv1." + made(40);
  EXPECT_EQ(redacted(text), text);
  EXPECT_EQ(redacted("x12345678:AA" + made(32)), "x" + whole("token", 43));
}

TEST_F(SecretShapes, WhatFollowsALiteralThatStays) {
  expect_least("sig=" + made(40), "sig=" + whole("secret", 40));
  expect_least("hooks.slack.com/" + made(29), "hooks.slack.com" + whole("secret", 30));
  expect_least("webhooks/" + made(59), "webhooks" + whole("secret", 60));
  EXPECT_EQ(redacted("sig=" + std::string(60, 'a')), "sig=" + std::string(60, 'a')) << "no digit";
  EXPECT_EQ(redacted("sig=" + made(38) + "%2B%2f%3D&x"), "sig=" + whole("secret", 47) + "&x");
  EXPECT_EQ(redacted("sig=" + made(38) + "%2A%2B"), "sig=" + made(38) + "%2A%2B");
  EXPECT_EQ(redacted("sig=" + made(20) + "\\/" + made(20)), "sig=" + whole("secret", 42));
}

TEST_F(SecretShapes, ShapesBeginAWord) {
  for (const std::string& text :
       {"xsig=" + made(40), "xhooks.slack.com/" + made(40), "xwebhooks/" + made(70), "xSG." + made(16) + "." + made(16),
        "xpat" + made(14) + "." + made(60), "xBearer " + made(16), "xBasic " + encode_base64("joe:hunter2"),
        std::string("xey") + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxIn0.abc"}) {
    EXPECT_EQ(redacted(text), text);
    EXPECT_NE(redacted(text.substr(1)), text.substr(1));
  }
}

TEST_F(SecretShapes, BearersAndBasics) {
  expect_least("Bearer " + made(16), "Bearer " + whole("token", 16));
  EXPECT_EQ(redacted("bearer " + std::string(31, 'a')), "bearer " + std::string(31, 'a'));
  EXPECT_EQ(redacted("bearer " + std::string(32, 'a')), "bearer " + whole("token", 32)) << "twice the least";
  EXPECT_EQ(redacted("Bearer" + made(16)), "Bearer" + made(16)) << "no blank";
  EXPECT_EQ(redacted("Basic " + encode_base64("joe:pw")), "Basic " + whole("password", 8));
  EXPECT_EQ(redacted("Basic " + encode_base64("joe pw")), "Basic " + encode_base64("joe pw")) << "no colon";
  EXPECT_EQ(redacted("Basic " + encode_base64("joe:p\x01w")), "Basic " + encode_base64("joe:p\x01w"));
  EXPECT_EQ(redacted("Basic " + encode_base64("a:b")), "Basic " + encode_base64("a:b")) << "too short";
}

TEST_F(SecretShapes, WebTokensHaveTwoPartsOfJson) {
  const std::string head = std::string("ey") + "JaaaaA", body = std::string("ey") + "JbbbB";
  EXPECT_EQ(redacted(head + "." + body + "1"), whole("token", 17));
  EXPECT_EQ(redacted(head + "." + body + "1.sig"), whole("token", 21));
  EXPECT_EQ(redacted(head + "." + body + "1."), whole("token", 18));
  for (const std::string& text : {head.substr(0, 7) + "." + body + "1", head + "." + body.substr(0, 6),
                                  head + ".ayJ" + made(9), "-" + head + "." + body + "1"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST_F(SecretShapes, TokensOfBotsHaveThreeParts) {
  const std::string number = encode_base64("198622483471925248").substr(0, 24);
  std::string token = number + "." + made(5) + "." + made(25);
  expect_least(token, whole("token", token.size()));
  for (const std::string& text : {number + "." + made(4) + "." + made(25), number + ":" + made(5) + "." + made(25),
                                  encode_base64("19862248347192") + "." + made(5) + "." + made(25),
                                  encode_base64("19862248347192524x") + "." + made(5) + "." + made(25)}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST_F(SecretShapes, PasswordsOfUrls) {
  EXPECT_EQ(redacted("ftp://a:b@h"), "ftp://a:" + whole("password", 1) + "@h");
  EXPECT_EQ(redacted("ftp://:b@h"), "ftp://:" + whole("password", 1) + "@h");
  EXPECT_EQ(redacted("ftp://a:%41bc@h"), "ftp://a:" + whole("password", 5) + "@h") << "spelled, and no placeholder";
  for (const char* text :
       {"ftp://a:@h", "ftp:/a:b@h", "ftp://a:b/@h", "ftp://a:b?@h", "ftp://a:b#@h", "ftp://a:b c@h", "ftp://a@h:1",
        "ftp://a:$P@h", "ftp://a:<p>@h", "ftp://a:{p}@h", "ftp://a:%s@h", "ftp://a:*@h", "ftp://a:%4@h"}) {
    EXPECT_EQ(redacted(text), text);
  }
  EXPECT_EQ(redacted("ftp://jo\\u0065:sesame@h"), "ftp://jo\\u0065:" + whole("password", 6) + "@h") << "JSON source";
  EXPECT_EQ(redacted("ftp://jo\\\\u0065:sesame@h"), "ftp://jo\\\\u0065:" + whole("password", 6) + "@h");
  EXPECT_EQ(redacted("ftp://j\\u006F:sesame@h"), "ftp://j\\u006F:" + whole("password", 6) + "@h");
  EXPECT_EQ(redacted("ftp://j\\u00aa:sesame@h"), "ftp://j\\u00aa:" + whole("password", 6) + "@h");
  EXPECT_EQ(redacted("ftp://jo\\u006g:sesame@h"), "ftp://jo\\u006g:sesame@h");
  EXPECT_EQ(redacted("ftp://j\xC3\xA4:s\xC3\xA4@h"), "ftp://j\xC3\xA4:" + whole("password", 2) + "@h");
  std::string far = "ftp://a:" + std::string(509, 'b');
  EXPECT_EQ(redacted(far + "@h"), "ftp://a:" + whole("password", 509) + "@h");
  EXPECT_EQ(redacted(far + "b@h"), far + "b@h") << "too far away to be one";
}

struct Named {
  std::string_view name;
  std::string_view kind;
};

TEST_F(SecretShapes, NamesThatTell) {
  for (const auto& [name, kind] :
       {Named{"password", "password"}, Named{"passwd", "password"}, Named{"passphrase", "password"},
        Named{"pwd", "password"}, Named{"secret", "secret"}, Named{"secret_key", "secret"},
        Named{"secret-key", "secret"}, Named{"secretkey", "secret"}, Named{"secret_access_key", "secret"},
        Named{"secretaccesskey", "secret"}, Named{"token", "token"}, Named{"api_key", "api_key"},
        Named{"api-key", "api_key"}, Named{"apikey", "api_key"}, Named{"access_key", "api_key"},
        Named{"accesskey", "api_key"}, Named{"accountkey", "secret"}, Named{"private_key", "private_key"}}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(redacted(std::string(name) + "=Xk29vbQ1"), std::string(name) + "=" + whole(kind, 8));
    EXPECT_EQ(redacted("MY_" + std::string(name) + ": 'Xk29vbQ1'"),
              "MY_" + std::string(name) + ": '" + whole(kind, 8) + "'");
    EXPECT_EQ(secret_member_kind("my_" + std::string(name), "Xk29vbQ1"), kind);
  }
  EXPECT_EQ(secret_member_kind("password", "Xk29 vbQ1"), "") << "two words";
  EXPECT_EQ(secret_member_kind("passwords", "Xk29vbQ1"), "");
  EXPECT_EQ(secret_member_kind("pw", "Xk29vbQ1"), "");
  EXPECT_EQ(secret_member_kind("xassword", "Xk29vbQ1"), "");
  EXPECT_EQ(secret_member_kind("passworx", "Xk29vbQ1"), "");
}

}  // namespace
}  // namespace shepherd
