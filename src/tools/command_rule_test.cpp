#include "tools/command_rule.h"

#include <gtest/gtest.h>

#include "tools/command_environment.h"
#include "tools/command_output.h"
#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

TEST(CommandRule, OfAPlainCommandIsItsProgram) {
  for (const char* command :
       {"git status", "git", "  git log --oneline -5", "git commit -m 'a; b && c $(d) `e` | f > g'",
        "git add *.cpp src/[ab]?.h", "git commit -m \"it's a fix, isn't it; yes & no | maybe > x\"",
        "git diff HEAD@:x=1 100%"}) {
    EXPECT_EQ(command_rule(command), "run_command(git)") << command;
  }
  EXPECT_EQ(command_rule("./build.sh all"), "run_command(./build.sh)");
  EXPECT_EQ(command_rule("/usr/bin/git status"), "run_command(/usr/bin/git)");
}

TEST(CommandRule, OfAnythingElseIsItsWholeText) {
  for (const char* command : {"git status; rm -rf x",
                              "git status && rm -rf x",
                              "git status || rm x",
                              "git status | sh",
                              "git status & rm x",
                              "git log $(rm -rf x)",
                              "git log `rm -rf x`",
                              "git log \"$(rm -rf x)\"",
                              "git log \"`rm x`\"",
                              "git log > /etc/passwd",
                              "git log < x",
                              "git log 2>&1",
                              "git status\nrm -rf x",
                              "git status\rrm -rf x",
                              "git $HOME",
                              "git \"$HOME\"",
                              "git ${x}",
                              "git status \\\nrm",
                              "git \\; rm",
                              "git 'unclosed",
                              "git \"unclosed",
                              "git 'a'\n'b'",
                              "git 'a\nb'",
                              "git {a,b}",
                              "git ~root",
                              "git # no",
                              "git status #",
                              "(git status)",
                              "{ git status; }",
                              "! git status",
                              "LD_PRELOAD=x git status",
                              "git=x",
                              "a=b",
                              "gi't' x",
                              "'git' status",
                              "\"git\" status",
                              "$GIT status",
                              "",
                              "   ",
                              "git <(rm x)",
                              "git \"a\\\"; rm x; \\\"\"",
                              "git\tx;y",
                              "#git"}) {
    EXPECT_EQ(command_rule(command), "run_command(\"" + std::string(command) + "\")") << command;
  }
}

TEST(CommandRule, OfAProgramThatRunsOthersIsItsWholeText) {
  for (const char* command :
       {"sh -c 'rm -rf x'", "bash x.sh", "/bin/sh x", "env git status", "sudo git status", "xargs rm", "eval 'rm x'",
        "exec rm x", "find . -exec rm x", "timeout 5 rm x", ". ./x", "nohup rm x"}) {
    EXPECT_FALSE(program_of(command)) << command;
    EXPECT_EQ(command_rule(command), "run_command(\"" + std::string(command) + "\")") << command;
  }
}

TEST(CommandEnvironment, HasNoSecretsAndNoColours) {
  std::vector<std::string> own{"PATH=/bin",           "HOME=/h",          "SHEPHERD_TOKEN=a",
                               "SHEPHERD_X=1",        "OPENAI_API_KEY=b", "github_token=c",
                               "DB_PASSWORD=d",       "MY_VARIABLE=e",    "TERM=xterm",
                               "AWS_SECRET_ACCESS=f", "LANG=C.UTF-8",     "GIT_PAGER=less"};
  std::vector<std::string> kept = command_environment(own, {"MY_VARIABLE"});
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (std::vector<std::string>{"GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=/h",
                                            "LANG=C.UTF-8", "NO_COLOR=1", "PAGER=cat", "PATH=/bin", "TERM=dumb"}));
}

TEST(CommandOutput, KeepsTheBeginningAndTheEnd) {
  CommandOutput output;
  EXPECT_EQ(output.text(), "");
  output.add("first\n");
  EXPECT_EQ(output.text(), "first\n");
  for (int i = 0; i < 100'000; ++i) output.add("0123456789\n");
  output.add("the last line\n\n");
  std::string text = output.text();
  EXPECT_TRUE(text.starts_with("first\n0123"));
  EXPECT_TRUE(text.ends_with("the last line\n\n"));
  EXPECT_LT(text.size(), kMaxCommandHeadBytes + kMaxCommandTailBytes + 100);
  EXPECT_NE(text.find("[" + std::to_string(output.bytes() - kMaxCommandHeadBytes - kMaxCommandTailBytes) +
                      " bytes of the output"),
            std::string::npos)
      << text.substr(kMaxCommandHeadBytes, 200);
  EXPECT_EQ(output.last_line(), "the last line");
}

TEST(CommandOutput, OfOnePieceKeepsTheSameBytes) {
  std::string bytes;
  for (int i = 0; bytes.size() < 200'000; ++i) bytes += std::to_string(i) + "\n";
  CommandOutput whole;
  whole.add(bytes);
  CommandOutput pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 777) pieces.add(std::string_view(bytes).substr(at, 777));
  EXPECT_EQ(whole.text(), pieces.text());
}

TEST(CommandOutput, OfBytesIsTextOfItsBound) {
  CommandOutput binary;
  binary.add(std::string(1'000, '\0'));
  EXPECT_EQ(binary.text(), "[1000 bytes of binary output, which are not shown]");
  CommandOutput latin;
  for (int i = 0; i < 100'000; ++i) latin.add("\xE4");
  EXPECT_LT(latin.text().size(), kMaxCommandHeadBytes + kMaxCommandTailBytes + 100);
}

TEST(ShownText, IsValidAndCutBetweenCharacters) {
  EXPECT_EQ(valid_text("a\xFF\xC3\xA4\xC3"), "a\xEF\xBF\xBD\xC3\xA4\xEF\xBF\xBD");
  EXPECT_EQ(valid_text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(first_bytes("a\xC3\xA4", 2), "a");
  EXPECT_EQ(last_bytes("\xC3\xA4z", 2), "z");
  EXPECT_EQ(shown_line("  a\n\n b\x1b[2J\tc ", 80), "a b [2J c");
  EXPECT_EQ(shown_line("abcdef", 3), "abc…");
  EXPECT_EQ(shown_line("\xC3\xA4\xC3\xB6\xC3\xBC", 3), "\xC3\xA4\xC3\xB6\xC3\xBC");
  EXPECT_EQ(shown_line(std::string(100'000, ' ') + "x", 3), "…");
}

}  // namespace
}  // namespace shepherd
