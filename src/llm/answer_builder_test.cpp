#include "llm/answer_builder.h"

#include <gtest/gtest.h>

#include "llm/limits.h"

namespace shepherd {
namespace {

std::string calls_text(AnswerBuilder& builder) {
  builder.close();
  std::string text;
  for (const ToolRequest& call : builder.take().tool_calls) {
    text += call.id + " " + call.name + " " + call.arguments + "; ";
  }
  return text;
}

std::string joined_calls(const std::vector<CallFragment>& fragments) {
  AnswerBuilder builder("made_");
  for (const CallFragment& fragment : fragments) builder.add_call(fragment);
  EXPECT_FALSE(builder.error());
  return calls_text(builder);
}

TEST(AnswerBuilder, JoinsFragmentsByIndex) {
  EXPECT_EQ(
      joined_calls({{0, "a", "time", ""}, {1, "b", "weather", R"({"ci)"}, {0, "", "", "{}"}, {1, "", "", R"(ty":1})"}}),
      R"(a time {}; b weather {"city":1}; )");
}

TEST(AnswerBuilder, JoinsFragmentsWithoutAnIndex) {
  EXPECT_EQ(joined_calls({{{}, "a", "time", "{"}, {{}, "", "", "}"}, {{}, "b", "weather", "{"}, {{}, "b", "", "}"}}),
            "a time {}; b weather {}; ");
  EXPECT_EQ(joined_calls({{{}, "a", "x", "{"}, {{}, "b", "y", "{"}, {{}, "a", "", "}"}, {{}, "b", "", "}"}}),
            "a x {}; b y {}; ")
      << "an id that is known decides";
  EXPECT_EQ(joined_calls({{{}, "", "x", "{}"}, {{}, "", "x", "{}"}}), "made_1 x {}; made_2 x {}; ")
      << "whole calls without ids";
}

TEST(AnswerBuilder, BeginsACallUnderAnIndexThatIsTaken) {
  EXPECT_EQ(joined_calls({{0, "a", "x", "{}"}, {0, "b", "y", "{"}, {0, "", "", "}"}}), "a x {}; b y {}; ");
  EXPECT_EQ(joined_calls({{0, "", "x", "{}"}, {0, "", "y", "{}"}}), "made_1 x {}; made_2 y {}; ")
      << "another name, where there are no ids";
}

TEST(AnswerBuilder, TakesTheSameNameAndIdAgainAsTheSameCall) {
  EXPECT_EQ(joined_calls({{0, "a", "x", "{"}, {0, "a", "x", "}"}}), "a x {}; ");
  EXPECT_EQ(joined_calls({{0, "", "x", "{"}, {0, "", "x", "}"}}), "made_1 x {}; ");
  std::string id(kMaxCallNameBytes + 1, 'i');
  EXPECT_EQ(joined_calls({{0, id, "x", "{"}, {0, id, "x", "}"}}), id.substr(1) + " x {}; ") << "an id that is cut";
}

TEST(AnswerBuilder, TakesANameThatComesLaterOrNever) {
  EXPECT_EQ(joined_calls({{0, "a", "", "{"}, {0, "", "x", "}"}}), "a x {}; ");
  EXPECT_EQ(joined_calls({{0, "a", "", "{}"}}), "a  {}; ");
}

TEST(AnswerBuilder, MakesIdsForCallsWithoutAndForDoubles) {
  EXPECT_EQ(joined_calls({{0, "", "x", ""}, {1, "b", "y", " \n"}, {2, "b", "z", "{}"}}),
            "made_1 x {}; b y {}; made_3 z {}; ");
}

TEST(AnswerBuilder, CleansWhatIsNotUtf8) {
  AnswerBuilder builder("made_");
  builder.set_model("m\xFF");
  builder.add_text("a\xE2\x82");
  builder.add_reasoning("b\xE2");
  builder.add_call({0, "i\xFF", "n\xFF", "\"\xFF\""});
  builder.close();
  ASSERT_EQ(builder.fresh().size(), 3U) << "what was held comes last";
  EXPECT_EQ(builder.text_of(builder.fresh()[2]), "\uFFFD");
  ModelAnswer answer = builder.take();
  EXPECT_EQ(answer.model, "m\uFFFD");
  EXPECT_EQ(answer.text, "a\uFFFD");
  EXPECT_EQ(answer.reasoning, "b\uFFFD");
  EXPECT_EQ(answer.tool_calls[0], (ToolRequest{"i\uFFFD", "n\uFFFD", "\"\uFFFD\""}));
}

TEST(AnswerBuilder, NamesHaveNothingToEscape) {
  EXPECT_EQ(joined_calls({{0, "a\"\n", "b\\\x01", "{}"}}), "a__ b__ {}; ");
}

TEST(AnswerBuilder, PassesTextOnInItsOrder) {
  AnswerBuilder builder("made_");
  EXPECT_FALSE(builder.begun());
  builder.add_text("");
  EXPECT_FALSE(builder.begun());
  builder.add_reasoning("think");
  builder.add_text("say");
  builder.add_text(" it");
  EXPECT_TRUE(builder.begun());
  ASSERT_EQ(builder.fresh().size(), 2U);
  EXPECT_TRUE(builder.fresh()[0].reasoning);
  EXPECT_EQ(builder.text_of(builder.fresh()[0]), "think");
  EXPECT_EQ(builder.text_of(builder.fresh()[1]), "say it");
  builder.forget_fresh();
  builder.add_text("!");
  EXPECT_EQ(builder.text_of(builder.fresh()[0]), "!");
}

TEST(AnswerBuilder, TheFinishFollowsFromTheCalls) {
  struct Case {
    std::optional<Finish> told;
    bool calls;
    Finish finish;
  };
  const Case cases[] = {{{}, false, Finish::stop},
                        {{}, true, Finish::tool_calls},
                        {Finish::stop, true, Finish::tool_calls},
                        {Finish::tool_calls, false, Finish::stop},
                        {Finish::length, true, Finish::length},
                        {Finish::filtered, false, Finish::filtered}};
  for (const Case& each : cases) {
    AnswerBuilder builder("made_");
    if (each.calls) builder.add_call({0, "a", "x", "{}"});
    if (each.told) builder.set_finish(*each.told);
    builder.close();
    EXPECT_EQ(builder.take().finish, each.finish);
  }
}

TEST(AnswerBuilder, EveryBoundIsAnError) {
  AnswerBuilder text("made_");
  text.add_text(std::string(kMaxAnswerBytes, 'x'));
  EXPECT_FALSE(text.error());
  text.add_reasoning("x");
  ASSERT_TRUE(text.error());
  EXPECT_EQ(text.error()->reason, "answer_too_long");
  text.add_text("more");
  text.close();
  EXPECT_EQ(text.take().text.size(), kMaxAnswerBytes) << "nothing is added after a failure";

  AnswerBuilder calls("made_");
  for (std::size_t i = 0; i < kMaxAnswerToolCalls; ++i) calls.add_call({static_cast<std::int64_t>(i), "", "x", "{}"});
  EXPECT_FALSE(calls.error());
  calls.add_call({1'000, "", "x", "{}"});
  ASSERT_TRUE(calls.error());

  AnswerBuilder arguments("made_");
  arguments.add_call({0, "", "x", std::string(kMaxToolArgumentBytes, ' ')});
  EXPECT_FALSE(arguments.error());
  arguments.add_call({0, "", "", "x"});
  ASSERT_TRUE(arguments.error());
}

}  // namespace
}  // namespace shepherd
