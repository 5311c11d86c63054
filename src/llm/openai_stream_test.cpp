#include <gtest/gtest.h>

#include "llm/answer_for_test.h"
#include "llm/limits.h"

namespace shepherd {
namespace {

std::string openai(std::string_view bytes) {
  return answer_text(ModelDialect::openai, bytes);
}

std::string delta(const std::string& members, const std::string& finish = "null") {
  return R"(data: {"choices":[{"index":0,"delta":{)" + members + R"(},"finish_reason":)" + finish + "}]}\n\n";
}

const std::string kStop = delta("", R"("stop")");
const std::string kDone = "data: [DONE]\n\n";

TEST(OpenAiStream, ReadsTextUsageAndModel) {
  EXPECT_EQ(openai(R"(data: {"model":"m","choices":[{"delta":{"role":"assistant","content":null}}]})"
                   "\n\n" +
                   delta(R"("content":"Hel")") + delta(R"("content":"lo")") + kStop +
                   R"(data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,)"
                   R"("prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}}})"
                   "\n\n" +
                   kDone),
            "text: Hello\nfinish: stop\nusage: 7 in, 2 out, 3 read, 0 written, 1 thought\nmodel: m\n");
}

TEST(OpenAiStream, ReadsReasoningUnderBothNames) {
  EXPECT_EQ(
      openai(delta(R"("reasoning_content":"a")") + delta(R"("reasoning":"b")") + delta(R"("content":"c")") + kStop),
      "text: c\nreasoning: ab\nfinish: stop\nusage: unknown\n");
}

TEST(OpenAiStream, TakesEveryKindOfEndForAnEnd) {
  EXPECT_EQ(openai(delta(R"("content":"x")") + kStop), "text: x\nfinish: stop\nusage: unknown\n") << "no [DONE]";
  EXPECT_EQ(openai(delta(R"("content":"x")") + "data: [DONE]"), "text: x\nfinish: stop\nusage: unknown\n")
      << "no finish_reason, no empty line";
  EXPECT_NE(openai(delta(R"("content":"x")")).find("error: model_broke_off"), std::string::npos);
  EXPECT_NE(openai("").find("error: model_broke_off"), std::string::npos);
}

TEST(OpenAiStream, ACutChunkAtTheEndChangesNothing) {
  std::string half = R"(data: {"choices":[],"usage":{"prompt_to)";
  EXPECT_EQ(openai(delta(R"("content":"x")") + kStop + half), "text: x\nfinish: stop\nusage: unknown\n");
  EXPECT_EQ(openai(delta(R"("content":"x")") + half),
            "text: x\nerror: model_broke_off\nmessage: the answer of model \"backend\" broke off: its stream ended "
            "without an end\n");
  EXPECT_NE(openai(half + "\n\n" + delta(R"("content":"x")") + kStop).find("error: model_failed"), std::string::npos)
      << "in the middle it is a failure";
}

TEST(OpenAiStream, NamesTheFinishAsItIs) {
  for (auto [told, finish] : {std::pair("length", "length"), std::pair("content_filter", "content_filter"),
                              std::pair("function_call", "stop"), std::pair("eos", "stop")}) {
    EXPECT_EQ(openai(delta(R"("content":"x")") + delta("", '"' + std::string(told) + '"') + kDone),
              "text: x\nfinish: " + std::string(finish) + "\nusage: unknown\n");
  }
  EXPECT_EQ(openai(delta(R"("refusal":"no")") + kStop + kDone), "text: no\nfinish: content_filter\nusage: unknown\n");
}

TEST(OpenAiStream, ReadsParallelCallsFromFragments) {
  EXPECT_EQ(
      openai(
          delta(R"("tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"time","arguments":""}}])") +
          delta(R"("tool_calls":[{"index":1,"id":"b","function":{"name":"weather","arguments":"{\"ci"}},)"
                R"({"index":0,"id":null,"function":{"name":null,"arguments":null}}])") +
          delta(R"("tool_calls":[{"index":1,"function":{"arguments":"ty\":1}"}}])") + delta("", R"("tool_calls")") +
          kDone),
      "call: a time {}\ncall: b weather {\"city\":1}\nfinish: tool_calls\nusage: unknown\n");
}

TEST(OpenAiStream, ReadsWholeCallsWithoutIndexOrId) {
  EXPECT_EQ(openai(delta(R"("tool_calls":[{"function":{"name":"x","arguments":{"a":1}}},)"
                         R"({"function":{"name":"x","arguments":"{}"}}])") +
                   kStop + kDone),
            "call: made_1 x {\"a\":1}\ncall: made_2 x {}\nfinish: tool_calls\nusage: unknown\n");
}

TEST(OpenAiStream, ReadsAnAnswerThatIsNotStreamed) {
  EXPECT_EQ(openai(R"({"model":"m","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],)"
                   R"("usage":{"prompt_tokens":1,"completion_tokens":2}})"),
            "text: x\nfinish: stop\nusage: 1 in, 2 out, 0 read, 0 written, 0 thought\nmodel: m\n");
}

TEST(OpenAiStream, ReadsEveryFormOfError) {
  struct Case {
    std::string bytes, reason, words;
  };
  const Case cases[] = {
      {R"(data: {"error":{"message":"gone wrong","type":"server_error","code":500}})", "model_failed", "gone wrong"},
      {"event: error\ndata: {\"message\":\"gone wrong\"}", "model_failed", "gone wrong"},
      {"event: error\ndata: gone wrong", "model_failed", "gone wrong"},
      {R"(data: {"object":"error","message":"gone wrong","code":400})", "model_refused", "gone wrong"},
      {R"(data: {"error":"gone wrong"})", "model_failed", "gone wrong"},
      {R"({"error":{"message":"gone wrong","code":429}})", "model_busy", "gone wrong"},
      {R"(data: {"error":{"message":"gone wrong","code":"503"}})", "model_busy", "gone wrong"},
      {R"(data: {"error":{"message":["gone","wrong"],"type":"overloaded_error"}})", "model_busy", "gone; wrong"},
      {R"(data: {"error":{"message":"m","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":5}})",
       "context_full", "promptTokens: 9\ncontextTokens: 5"},
      {"data: nonsense", "model_failed", "not JSON"},
  };
  for (const Case& each : cases) {
    std::string text = openai(delta(R"("content":"x")") + each.bytes + "\n\n" + kDone);
    EXPECT_TRUE(text.starts_with("text: x\nerror: " + each.reason + "\n")) << each.bytes << "\n" << text;
    EXPECT_NE(text.find(each.words), std::string::npos) << text;
  }
}

TEST(OpenAiStream, AnEmptyErrorIsNone) {
  EXPECT_EQ(openai(R"(data: {"error":"","choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]})"),
            "text: x\nfinish: stop\nusage: unknown\n");
  EXPECT_EQ(openai(R"(data: {"error":null,"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]})"),
            "text: x\nfinish: stop\nusage: unknown\n");
}

TEST(OpenAiStream, SurvivesChunksOfAnyShape) {
  for (const char* chunk :
       {"1", "null", "[]", "{}", R"({"choices":null})", R"({"choices":{}})", R"({"choices":[null]})",
        R"({"choices":[{"delta":null}]})", R"({"choices":[{"delta":{"tool_calls":[1]}}]})",
        R"({"choices":[{"delta":{"content":["x"]}}]})", R"({"usage":3})", R"({"usage":{"completion_tokens":3}})"}) {
    EXPECT_EQ(openai("data: " + std::string(chunk) + "\n\n" + delta(R"("content":"x")") + kStop + kDone).substr(0, 8),
              "text: x\n")
        << chunk;
  }
}

TEST(OpenAiStream, ReadsDocumentsThatNoEmptyLineSeparates) {
  EXPECT_EQ(
      openai("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n"
             "data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\ndata: [DONE]\n\n"),
      "text: ab\nfinish: stop\nusage: unknown\n");
}

TEST(OpenAiStream, ReadsNothingBehindTheEnd) {
  EXPECT_EQ(openai(delta(R"("content":"x")") + kDone + delta(R"("content":"y")") + "data: nonsense\n\n"),
            "text: x\nfinish: stop\nusage: unknown\n");
}

TEST(OpenAiStream, BoundsALine) {
  EXPECT_NE(openai(std::string(kMaxStreamLineBytes + 1, 'x')).find("error: answer_too_long"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
