#include "cli/approval_view.h"

#include <gtest/gtest.h>

#include "json/write.h"

namespace shepherd {
namespace {

using Lines = std::vector<std::string>;

std::string input_of(std::string_view command) {
  std::string json = object_text([&](JsonObject& object) {
    object.text("command", command);
    object.text("description", "Say hello");
  });
  return json;
}

TEST(InputLines, EveryMemberIsThere) {
  EXPECT_EQ(input_lines(R"({"command":"git push","description":"Push","timeout":5,"env":{"A":"b\nc"}})", 0),
            (Lines{"command: git push", "description: Push", "timeout: 5", R"(env: {"A":"b\nc"})"}));
  EXPECT_EQ(input_lines("{}", 0), Lines{});
}

// Control characters that an agent could send to hide the second command; bash runs all of it.
TEST(InputLines, NoCharacterHidesAnother) {
  EXPECT_EQ(input_lines(input_of("echo hi\u009d; touch PWN \u009c"), 0).front(),
            "command: echo hi\\u009d; touch PWN \\u009c");
  EXPECT_EQ(input_lines(input_of("echo hi \x1b]; touch PWN #\x07"), 0).front(),
            "command: echo hi \\x1b]; touch PWN #\\x07");
  EXPECT_EQ(input_lines("{\"a\u202eb\":{\"x\":\"\u009d\"}}", 0), (Lines{"a\\u202eb: {\"x\":\"\\u009d\"}"}));
}

TEST(InputLines, AValueCannotLookLikeAnotherMember) {
  EXPECT_EQ(input_lines(input_of("echo hi\ndescription: harmless"), 0),
            (Lines{"command:", "| echo hi", "| description: harmless", "description: Say hello"}));
  Lines lines = input_lines(input_of(std::string(40, 'x') + " description: harmless"), 40);
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) EXPECT_TRUE(lines[i].starts_with("  ")) << lines[i];
}

TEST(InputLines, QuestionsAreShownWithTheirChoices) {
  EXPECT_EQ(input_lines(R"({"questions":[{"question":"How?","header":"H","options":[{"label":"By month"},)"
                        R"({"label":"By customer"}]}]})",
                        0),
            (Lines{"How?", "| By month | By customer"}));
}

TEST(RedactionNotice, SaysThatAndWhatIsHidden) {
  EXPECT_EQ(redaction_notice(R"({"command":"git push"})"), "");
  EXPECT_EQ(redaction_notice(R"({"command":"curl -u a:[redacted:password] h"})"),
            "a secret is hidden above (password); the agent uses what is really there");
  EXPECT_EQ(redaction_notice(R"({"command":"[redacted:api_key:40] [redacted:password:12] [redacted]@h"})"),
            "3 secrets are hidden above (api key, 40 characters; password, 12 characters; secret); the agent uses what "
            "is really there");
  EXPECT_EQ(redaction_notice(R"({"command":"echo '[redacted:' ]"})"), "");
}

TEST(AskedLines, SayWhatIsMissing) {
  Lines lines = asked_lines({R"({"command":"curl -u a:[redacted:password] h"})", false}, 0);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[1].find("not all of it"), std::string::npos);
  EXPECT_NE(lines[2].find("a secret is hidden"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
