#include "cli/answer_words.h"

#include <gtest/gtest.h>

#include "cli/open_approvals.h"

namespace shepherd {
namespace {

constexpr std::string_view kData =
    R"({"approvalID":"a","input":{"questions":[)"
    R"({"question":"Which colour?","header":"Colour","options":[{"label":"Red"},{"label":"Blue"}]},)"
    R"({"question":"x=1 or x=2?","header":"","options":[]}]}})";

std::vector<AskedQuestion> only_colour() {
  auto questions = asked_questions(kData);
  questions.resize(1);
  return questions;
}

TEST(AnswerWords, QuestionsOfAnApproval) {
  auto questions = asked_questions(kData);
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].text, "Which colour?");
  EXPECT_EQ(questions[0].options, (std::vector<std::string>{"Red", "Blue"}));
  EXPECT_TRUE(asked_questions(R"({"input":{"command":"ls"}})").empty());
}

TEST(AnswerWords, AQuestionByNumberHeaderOrText) {
  for (const char* first : {"1=blue", "colour=Blue", "Which colour?=2"}) {
    EXPECT_EQ(answers_json(asked_questions(kData), {first, "x=1 or x=2?=x=2"}).value(),
              R"({"Which colour?":"Blue","x=1 or x=2?":"x=2"})")
        << first;
  }
}

TEST(AnswerWords, TheOnlyQuestionNeedsNoName) {
  EXPECT_EQ(answers_json(only_colour(), {"green, like grass"}).value(), R"({"Which colour?":"green, like grass"})");
  EXPECT_EQ(answers_json(only_colour(), {"a=b"}).value(), R"({"Which colour?":"a=b"})");
}

TEST(AnswerWords, ErrorsSayWhatWasAsked) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"1=Red"}, {"size=5", "1=Red"}, {"Red"}, {"3=Red"}}) {
    auto answers = answers_json(asked_questions(kData), words);
    ASSERT_FALSE(answers);
    EXPECT_NE(answers.error().message.find("1. Which colour? [Red, Blue]"), std::string::npos)
        << answers.error().message;
  }
  EXPECT_NE(answers_json({}, {"yes"}).error().message.find("shepherd approve"), std::string::npos);
}

TEST(OpenApprovals, TheOnlyOneNeedsNoName) {
  auto open = open_approvals(
      R"({"id":"t","approvals":[{"approvalID":"ab8b","kind":"question","tool":"AskUserQuestion","summary":"Asking","sequence":7}]})");
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].sequence, 7u);
  EXPECT_EQ(choose_approval(open, "").value().id, "ab8b");
  EXPECT_EQ(choose_approval(open, "ab").value().id, "ab8b");
  EXPECT_EQ(choose_approval(open, "c").error().code, ErrorCode::not_found);
  EXPECT_EQ(choose_approval({}, "").error().code, ErrorCode::not_found);
}

TEST(OpenApprovals, AmongSeveralOneIsNamed) {
  std::vector<OpenApproval> open{{"aa", "", "", "one", 1}, {"aab", "", "", "two", 2}, {"b", "", "", "three", 3}};
  EXPECT_EQ(choose_approval(open, "aa").value().summary, "one");  // an exact id wins over a prefix
  EXPECT_EQ(choose_approval(open, "b").value().summary, "three");
  for (const char* unclear : {"", "a"}) {
    auto chosen = choose_approval(open, unclear);
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(chosen.error().message.find("aab (two)"), std::string::npos);
  }
}

}  // namespace
}  // namespace shepherd
