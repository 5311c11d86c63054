// What an operator is shown of a command is what runs: no mark stands for shell syntax or for the words after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "redact/redact.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

std::string syntax_of(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), is_shell_syntax);
  return out;
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

class RedactShell : public ::testing::Test {
 protected:
  Redactor redactor_ = Redactor::create({}).value();
};

TEST_F(RedactShell, ACommandInsideAPasswordIsShown) {
  const std::vector<std::string> before{
      "git fetch https://u:x",       "curl -u admin:x1",          "curl -u 'admin:x1",        "curl --user=joe:x1",
      "PASSWORD=hunter22",           "mysql --password=hunter22", "{\"password\":\"hunter22", "postgres://app:s3cr3t",
      "Bearer aB3dE5fG7hJ9kL1mN2pQ", "curl https://joe:pa55@"};
  const std::vector<std::string> commands{
      ";touch${IFS}PWNR;", "&touch${IFS}PWNR&", "|touch${IFS}PWNR|",  "$(touch${IFS}PWNR)",
      "`touch${IFS}PWNR`", "\ntouch PWNR\n",    "&&touch PWNR;",      ">PWNR;",
      "\";touch PWNR;\"",  "';touch PWNR;'",    "<(touch${IFS}PWNR)", "\\\ntouch PWNR\n",
      "||touch PWNR;"};
  for (const std::string& start : before) {
    for (const std::string& command : commands) {
      for (const char* end : {"", ":@github.com/o/r", "@example.com", " https://h"}) {
        std::string text = start + command + end;
        std::string shown = redactor_.redact(text);
        EXPECT_EQ(syntax_of(shown), syntax_of(text)) << text << "\nbecame " << shown;
        EXPECT_EQ(count(shown, "PWNR"), 1U) << text << "\nbecame " << shown;
      }
    }
  }
}

TEST_F(RedactShell, ACommandBetweenTheLinesOfAKeyIsShown) {
  const std::string begin = std::string("-----BEGIN RSA ") + "PRIVATE KEY-----";
  const std::string end = std::string("-----END RSA ") + "PRIVATE KEY-----";
  const std::string line = "MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAaBbCcDdEeFf";
  for (const std::string command : {"touch PWNR", "EOF\ntouch PWNR\ncat <<EOF", "/usr/bin/PWNR;", "$(PWNR)", "PWNR",
                                    "> PWNR", "| PWNR", "Note: x; touch PWNR", "# PWNR", "pwnr PWNR 1"}) {
    for (const std::string& text :
         {begin + "\n" + command + "\n" + end, begin + "\n" + line + "\n" + command + "\n" + end,
          begin + "\n" + command + "\n" + line + "\n" + end,
          begin + "\n" + line + "\n" + command + "\n" + line + "\n" + end,
          begin + "\n" + line + "\n" + line + "\n" + end + "\n" + command}) {
      std::string shown = redactor_.redact("cat > k <<EOF\n" + text + "\nEOF");
      EXPECT_EQ(count(shown, "PWNR"), 1U) << text << "\nbecame " << shown;
      EXPECT_EQ(shown.find("MIIEow"), std::string::npos) << shown;
    }
  }
}

TEST_F(RedactShell, ACommandAfterACommentIsShown) {
  for (const char* text : {"# password=\\\nreboot22now", "# curl -u joe:\\\nreboot22now", "# --token \\\nreboot22now",
                           "true # ghp_\\\nreboot"}) {
    EXPECT_EQ(redactor_.redact(text), text);
  }
  EXPECT_EQ(redactor_.redact(std::string("# gh") + "p_aB3dE5fG7hJ9\\\nkL1mN2pQ4rS6tU8vW0xY1234"),
            "# [redacted:token:16]\\\n[redacted:token:24]");
}

TEST_F(RedactShell, LinesThatAShellJoinsHideNothing) {
  EXPECT_EQ(redactor_.redact("export PASSWORD=hun\\\nter22x run"),
            "export PASSWORD=[redacted:password:3]\\\n[redacted:password:6] run");
  const std::string split = std::string("gh") + "p_aB3dE5fG7hJ9\\\nkL1mN2pQ4rS6tU8vW0xY1234";
  EXPECT_EQ(redactor_.redact("# " + split + " and; more"), "# [redacted:token:16]\\\n[redacted:token:24] and; more");
  EXPECT_EQ(redactor_.redact("run " + split + " and; more"),
            "run [redacted:token:16]\\\n[redacted:token:24] and; more");
}

// Whatever stands around secrets that have none inside.
TEST_F(RedactShell, NoMarkStandsForSyntaxInAnyMixture) {
  constexpr std::uint64_t kSeed = 20261117;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const std::vector<std::string> pieces{";",
                                        "&",
                                        "|",
                                        "$",
                                        "(",
                                        ")",
                                        "<",
                                        ">",
                                        "`",
                                        "\"",
                                        "'",
                                        " ",
                                        "\n",
                                        "\\",
                                        "\t",
                                        "${IFS}",
                                        "\\\n",
                                        "&&",
                                        "||",
                                        "touch",
                                        "PWNR",
                                        "x",
                                        "=",
                                        ":",
                                        "@",
                                        "/",
                                        "-",
                                        "--",
                                        ",",
                                        "%3B",
                                        "%24",
                                        "\\n",
                                        "\\u0024",
                                        "+",
                                        "#",
                                        "{",
                                        "}",
                                        "https://u:",
                                        "https://u:x1@h",
                                        "@github.com/o/r",
                                        "curl -u admin:",
                                        "curl ",
                                        " -u a:b1",
                                        "--user ",
                                        "password=",
                                        "PASSWORD: ",
                                        "api_key=",
                                        "\"token\":\"",
                                        "hunter22",
                                        "Xk29vbQ1",
                                        "tr0ub4dor",
                                        "Bearer ",
                                        "Basic ",
                                        "aB3dE5fG7hJ9kL1mN2pQ4rS6",
                                        "YWxhZGRpbjpvcGVuc2VzYW1l",
                                        "--token ",
                                        "machine h login joe password ",
                                        std::string("sk-") + "ant-api03-aB3dE5fG7hJ9kL1mN2pQ4rS6",
                                        std::string("gh") + "p_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1234"};
  SeededRandom random(kSeed);
  int changed = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (std::uint64_t parts = 2 + random.below(10); parts > 0; --parts) text += pieces[random.below(pieces.size())];
    std::string shown = redactor_.redact(text);
    changed += shown == text ? 0 : 1;
    ASSERT_EQ(syntax_of(shown), syntax_of(text)) << text << "\nbecame " << shown;
  }
  EXPECT_GT(changed, 10'000) << "the mixtures must exercise the rules";
}

TEST_F(RedactShell, AMarkSaysHowManyCharactersAreGone) {
  EXPECT_EQ(redactor_.redact("PASSWORD=h\xC3\xA4nter22x"), "PASSWORD=[redacted:password:9]");
  EXPECT_EQ(redactor_.redact("https://joe:a1[redacted:secret:20]b@h/"), "https://joe:[redacted:password:23]@h/");
  EXPECT_EQ(redactor_.redact("old [redacted:token] and new [redacted:token:40]"),
            "old [redacted:token] and new [redacted:token:40]");
}

}  // namespace
}  // namespace shepherd
