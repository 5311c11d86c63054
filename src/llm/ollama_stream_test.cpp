#include <gtest/gtest.h>

#include "llm/answer_for_test.h"

namespace shepherd {
namespace {

std::string ollama(std::string_view bytes) {
  return answer_text(ModelDialect::ollama, bytes);
}

std::string says(const std::string& members) {
  return R"({"model":"m","message":{"role":"assistant",)" + members + R"(},"done":false})" + "\n";
}
std::string ends(const std::string& members) {
  return R"({"model":"m","message":{"role":"assistant","content":""},"done":true)" + members + "}\n";
}

TEST(OllamaStream, ReadsTextThinkingAndUsage) {
  EXPECT_EQ(ollama(says(R"("content":"","thinking":"hm")") + says(R"("content":"Hel")") + "\r\n" +
                   says(R"("content":"lo")") + ends(R"(,"done_reason":"stop","prompt_eval_count":7,"eval_count":2)")),
            "text: Hello\nreasoning: hm\nfinish: stop\nusage: 7 in, 2 out, 0 read, 0 written, 0 thought\nmodel: m\n");
}

TEST(OllamaStream, ReadsWholeCalls) {
  EXPECT_EQ(
      ollama(
          says(
              R"("content":"","tool_calls":[{"function":{"name":"x","arguments":{"a":1}}},{"id":"i","function":{"name":"x","arguments":{}}}])") +
          says(R"("content":"","tool_calls":[{"function":{"name":"y","arguments":"{\"b\":2}"}}])") +
          ends(R"(,"done_reason":"stop")")),
      "call: made_1 x {\"a\":1}\ncall: i x {}\ncall: made_3 y {\"b\":2}\nfinish: tool_calls\nusage: unknown\nmodel: "
      "m\n");
}

TEST(OllamaStream, UsageWithoutThePromptIsNotKnown) {
  EXPECT_NE(ollama(ends(R"(,"eval_count":2)")).find("usage: unknown"), std::string::npos);
}

TEST(OllamaStream, TellsTheLimitFromTheEnd) {
  EXPECT_NE(ollama(says(R"("content":"x")") + ends(R"(,"done_reason":"length")")).find("finish: length"),
            std::string::npos);
}

TEST(OllamaStream, ReadsErrorsAndEnds) {
  EXPECT_EQ(ollama(says(R"("content":"x")") + R"({"error":"an error was encountered"})" + "\n"),
            "text: x\nerror: model_failed\nmessage: model \"backend\" failed: an error was encountered\n");
  EXPECT_NE(ollama(R"({"error":"the prompt is longer than the context length"})").find("error: context_full"),
            std::string::npos);
  EXPECT_NE(ollama(says(R"("content":"x")")).find("error: model_broke_off"), std::string::npos);
  EXPECT_NE(ollama(says(R"("content":"x")") + R"({"model":"m","mess)").find("error: model_broke_off"),
            std::string::npos);
  EXPECT_NE(ollama("nonsense\n").find("error: model_failed"), std::string::npos);
  EXPECT_EQ(ollama(R"({"message":{"content":"x"},"done":true})"), "text: x\nfinish: stop\nusage: unknown\n")
      << "the last line without its end";
}

}  // namespace
}  // namespace shepherd
