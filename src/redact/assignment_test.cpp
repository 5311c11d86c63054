#include "redact/assignment.h"

#include <gtest/gtest.h>

#include <string>

#include "redact/curl_password.h"
#include "redact/redact.h"

namespace shepherd {
namespace {

TEST(Assignment, ValuesThatMayBeSecrets) {
  for (const char* value : {"a1b2c3", "123456", "abcde!", "abc@de", "ab#cde", "ab%cde", "ab^cde", "ab*cde", "ab+cde",
                            "ab~cde", "ab?cde", "ab$cde"}) {
    EXPECT_TRUE(is_plausible_value(value, true)) << value;
    EXPECT_FALSE(is_plausible_value(value, false)) << value << ": too short for anything but a password";
  }
  for (const char* value : {"a1b2c3d4", "abcdefg1"}) EXPECT_TRUE(is_plausible_value(value, false)) << value;
  for (const char* value :
       {"a1b2c", "abcdef", "aaaaaa", "$abcd1", "%abcd1", "*abcd1", "~abcd1", "/abcd1", ".abcd1", "a1://b", "111111"}) {
    EXPECT_FALSE(is_plausible_value(value, true)) << value;
  }
  for (const char* value : {"a1b2c3d", "abcdefg!", "12345678", "1234-5678"}) {
    EXPECT_FALSE(is_plausible_value(value, false)) << value;
  }
}

TEST(Assignment, AValueEndsWithItsText) {
  const std::string text = "token=a1" + std::string(300, 'b');
  for (std::size_t size : {20U, 134U, 135U, 200U}) {
    auto value = assigned_value(std::string_view(text).substr(0, size), 0, 5, false);
    ASSERT_TRUE(value);
    EXPECT_EQ(value->begin, 6U);
    EXPECT_EQ(value->end, size);
  }
}

TEST(Assignment, NothingBehindTheTextIsRead) {
  constexpr std::string_view kMore = "token==>  \"'a1b2c3d4e5'";
  for (std::size_t size = 5; size < 18; ++size)
    EXPECT_FALSE(assigned_value(kMore.substr(0, size), 0, 5, false)) << size;
  EXPECT_TRUE(assigned_value("token==>  'a1b2c3d4e5'", 0, 5, false));
}

TEST(CurlPassword, TheQuickLookSeesAColonInTheValue) {
  EXPECT_TRUE(may_be_user_option(" -u joe:x", 3, true));
  EXPECT_TRUE(may_be_user_option(" -ujoe:x", 3, true));
  EXPECT_TRUE(may_be_user_option("-user 'joe doe:x'", 5, false));
  EXPECT_TRUE(may_be_user_option("-user=joe:x", 5, false));
  EXPECT_FALSE(may_be_user_option("-userjoe:x", 5, false));
  EXPECT_FALSE(may_be_user_option(" -u joe a:x", 3, true)) << "the value has ended";
  EXPECT_FALSE(may_be_user_option(" -u 'joe' a:x", 3, true));
  EXPECT_FALSE(may_be_user_option(" -u ", 3, true));
  EXPECT_TRUE(may_be_user_option(" -u " + std::string(383, 'j') + ":", 3, true));
  EXPECT_FALSE(may_be_user_option(" -u " + std::string(384, 'j') + ":", 3, true));
}

class AssignmentTest : public ::testing::Test {
 protected:
  std::string redacted(std::string_view text) const { return redactor_.redact(text); }
  Redactor redactor_ = Redactor::create({}).value();
};

TEST_F(AssignmentTest, WhatStandsBetweenNameAndValue) {
  for (const char* between : {"=", ":", "==", ":=", "=>", ": ", " = ", "\t:\t", "\": \"", "' => '", "`:`",
                              "]=", "\"] = '", "\\\": \\\"", "        =        "}) {
    std::string text = "token" + std::string(between);
    EXPECT_EQ(redacted(text + "Xk29vbQ1"), text + "[redacted:token:8]") << between;
  }
  for (const char* between : {" ", "->", "", "+", "         =", "=         ", "~", "]"}) {
    std::string text = "token" + std::string(between) + "Xk29vbQ1";
    EXPECT_EQ(redacted(text), text) << between;
  }
}

TEST_F(AssignmentTest, WhereAValueEnds) {
  for (const char* end : {"\"", "'", "`", ",", ";", "&", "<", ">", ")", "{", "}", "[", "]", "|", "\\", " ", "\n"}) {
    std::string text = "token=Xk29vbQ1" + std::string(end) + "rest1";
    EXPECT_EQ(redacted(text), "token=[redacted:token:8]" + std::string(end) + "rest1") << end;
  }
  EXPECT_EQ(redacted("token=Xk29vbQ1("), "token=Xk29vbQ1(") << "a call";
  EXPECT_EQ(redacted("password=hunter22$(id)"), "password=[redacted:password:8]$(id)");
  EXPECT_EQ(redacted("token=Xk29vbQ1. x"), "token=[redacted:token:8]. x");
  EXPECT_EQ(redacted("token=Xk29vbQ1.:. x"), "token=[redacted:token:8].:. x");
  std::string value = "a1" + std::string(300, 'b');
  EXPECT_EQ(redacted("token=" + value + "."), "token=[redacted:token:303]") << "taken without looking";
  EXPECT_EQ(redacted("token=" + value + "!;x"), "token=[redacted:token:303];x");
}

TEST_F(AssignmentTest, OptionsHaveABlankBetween) {
  EXPECT_EQ(redacted("run --token Xk29vbQ1"), "run --token [redacted:token:8]");
  EXPECT_EQ(redacted("run --github-token Xk29vbQ1"), "run --github-token [redacted:token:8]");
  EXPECT_EQ(redacted("run --" + std::string(33, 'x') + "token Xk29vbQ1"),
            "run --" + std::string(33, 'x') + "token [redacted:token:8]");
  EXPECT_EQ(redacted("\\n--token Xk29vbQ1"), "\\n--token [redacted:token:8]");
  for (const char* text : {"run -token Xk29vbQ1", "run token Xk29vbQ1", "run --tokens Xk29vbQ1", "run --token -k29vbQ1",
                           "run --token id=Xk29vbQ1", "run a--token Xk29vbQ1"}) {
    EXPECT_EQ(redacted(text), text);
  }
  EXPECT_EQ(redacted("run --token Xk29vbQ1=="), "run --token [redacted:token:10]") << "the end of base64";
  std::string far = "run --" + std::string(39, 'x') + "token Xk29vbQ1";
  EXPECT_EQ(redacted(far), far) << "longer than any option is";
}

TEST_F(AssignmentTest, PasswordsOfHostsHaveALoginBefore) {
  EXPECT_EQ(redacted("login joe password hunter22"), "login joe password [redacted:password:8]");
  EXPECT_EQ(redacted("login joe\n\tpassword hunter22"), "login joe\n\tpassword [redacted:password:8]");
  for (const char* text : {"login password hunter22", "login joe doe password hunter22", "logan joe password hunter22",
                           "loginjoe password hunter22", "login joe token Xk29vbQ1"}) {
    EXPECT_EQ(redacted(text), text);
  }
  std::string near = "login " + std::string(116, 'j') + " password hunter22";
  EXPECT_NE(redacted(near), near);
  std::string far = "login " + std::string(122, 'j') + " password hunter22";
  EXPECT_EQ(redacted(far), far);
}

TEST_F(AssignmentTest, CommandsOfCurl) {
  for (const char* before :
       {"curl -u joe:", "curl -ujoe:", "curl --user joe:", "curl --user=joe:", "curl -u 'joe:", "curl -u \\\"joe:",
        "curl --proxy-user joe:", "curl -k \\\n -u joe:", "curl -k \\\r\n -u joe:"}) {
    EXPECT_EQ(redacted(before + std::string("sesame x")), before + std::string("[redacted:password:6] x")) << before;
  }
  for (const char* text :
       {"wget -u joe:sesame", "curl -u 1000:1000", "curl -u :sesame", "curl -u joe", "curl x\n-u joe:sesame",
        "curl --userjoe:sesame", "curl -u joe sesame:x", "curl -u joe:$PW", "curl -u \"joe\" a:b"}) {
    EXPECT_EQ(redacted(text), text);
  }
  std::string user(63, 'j');
  EXPECT_EQ(redacted("curl -u " + user + ":sesame"), "curl -u " + user + ":[redacted:password:6]");
  EXPECT_EQ(redacted("curl -u j" + user + ":sesame"), "curl -u j" + user + ":sesame");
  std::string padding(508 - 4, 'x');
  EXPECT_NE(redacted("curl" + padding + " -u joe:sesame").find("redacted"), std::string::npos);
  EXPECT_EQ(redacted("curl" + padding + "xxxxxx -u joe:sesame").find("redacted"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
