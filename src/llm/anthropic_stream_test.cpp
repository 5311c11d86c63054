#include <gtest/gtest.h>

#include "llm/answer_for_test.h"

namespace shepherd {
namespace {

std::string anthropic(std::string_view bytes) {
  return answer_text(ModelDialect::anthropic, bytes);
}

std::string happens(const std::string& type, const std::string& members = "") {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + (members.empty() ? "" : "," + members) + "}\n\n";
}
std::string block_starts(int index, const std::string& block) {
  return happens("content_block_start", "\"index\":" + std::to_string(index) + ",\"content_block\":" + block);
}
std::string block_grows(int index, const std::string& delta) {
  return happens("content_block_delta", "\"index\":" + std::to_string(index) + ",\"delta\":" + delta);
}
std::string block_stops(int index) {
  return happens("content_block_stop", "\"index\":" + std::to_string(index));
}
std::string message_ends(const std::string& reason) {
  return happens("message_delta", R"("delta":{"stop_reason":")" + reason + R"("},"usage":{"output_tokens":9})") +
         happens("message_stop");
}

const std::string kStart = happens(
    "message_start",
    R"("message":{"model":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}})");

TEST(AnthropicStream, ReadsTextAndCumulativeUsage) {
  EXPECT_EQ(
      anthropic(kStart + happens("ping") + block_starts(0, R"({"type":"text","text":""})") +
                block_grows(0, R"({"type":"text_delta","text":"Hel"})") + happens("ping") +
                block_grows(0, R"({"type":"text_delta","text":"lo"})") + block_stops(0) + message_ends("end_turn")),
      "text: Hello\nfinish: stop\nusage: 60 in, 9 out, 30 read, 20 written, 0 thought\nmodel: m\n");
}

TEST(AnthropicStream, ReadsToolsBlockByBlock) {
  EXPECT_EQ(anthropic(kStart + block_starts(0, R"({"type":"tool_use","id":"a","name":"time","input":{}})") +
                      block_grows(0, R"({"type":"input_json_delta","partial_json":""})") + block_stops(0) +
                      block_starts(1, R"({"type":"tool_use","id":"b","name":"weather","input":{}})") +
                      block_grows(1, R"({"type":"input_json_delta","partial_json":"{\"ci"})") +
                      block_grows(1, R"({"type":"input_json_delta","partial_json":"ty\":1}"})") + block_stops(1) +
                      message_ends("tool_use")),
            "call: a time {}\ncall: b weather {\"city\":1}\nfinish: tool_calls\n"
            "usage: 60 in, 9 out, 30 read, 20 written, 0 thought\nmodel: m\n");
}

TEST(AnthropicStream, LeavesToolsOfTheServerAlone) {
  EXPECT_EQ(anthropic(block_starts(0, R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})") +
                      block_grows(0, R"({"type":"input_json_delta","partial_json":"{\"q\":1}"})") + block_stops(0) +
                      block_starts(1, R"({"type":"text","text":"x"})") +
                      block_grows(1, R"({"type":"citations_delta","citation":{}})") + message_ends("end_turn")),
            "text: x\nfinish: stop\nusage: 0 in, 9 out, 0 read, 0 written, 0 thought\n");
}

TEST(AnthropicStream, KeepsThinkingWithItsSignature) {
  EXPECT_EQ(
      anthropic(block_starts(0, R"({"type":"thinking","thinking":"","signature":""})") +
                block_grows(0, R"({"type":"thinking_delta","thinking":"Let \"me"})") +
                block_grows(0, R"({"type":"thinking_delta","thinking":" see"})") +
                block_grows(0, R"({"type":"signature_delta","signature":"Sig/+="})") + block_stops(0) +
                block_starts(1, R"({"type":"redacted_thinking","data":"Hid/+="})") + block_stops(1) +
                block_starts(2, R"({"type":"text","text":"x"})") + message_ends("end_turn")),
      "text: x\nreasoning: Let \"me see\n"
      R"(state: {"backend":"backend","blocks":[{"type":"thinking","thinking":"Let \"me see","signature":"Sig/+="},)"
      R"({"type":"redacted_thinking","data":"Hid/+="}]})"
      "\nfinish: stop\nusage: 0 in, 9 out, 0 read, 0 written, 0 thought\n");
}

TEST(AnthropicStream, KeepsNoThinkingWithoutASignature) {
  EXPECT_EQ(
      anthropic(block_starts(0, R"({"type":"thinking","thinking":"a"})") + block_stops(0) + message_ends("end_turn")),
      "reasoning: a\nfinish: stop\nusage: 0 in, 9 out, 0 read, 0 written, 0 thought\n");
}

TEST(AnthropicStream, NamesTheFinish) {
  for (auto [told, finish] :
       {std::pair("max_tokens", "length"), std::pair("model_context_window_exceeded", "length"),
        std::pair("stop_sequence", "stop"), std::pair("pause_turn", "stop"), std::pair("refusal", "content_filter")}) {
    EXPECT_NE(anthropic(message_ends(told)).find("finish: " + std::string(finish) + "\n"), std::string::npos) << told;
  }
}

TEST(AnthropicStream, AnEndWithoutItsMarkIsAnEndOnlyAfterTheReason) {
  EXPECT_NE(anthropic(happens("message_delta", R"("delta":{"stop_reason":"end_turn"})")).find("finish: stop"),
            std::string::npos);
  EXPECT_NE(anthropic(kStart + block_starts(0, R"({"type":"text","text":"x"})")).find("model_broke_off"),
            std::string::npos);
}

TEST(AnthropicStream, ReadsErrorsInTheMiddle) {
  std::string begun = kStart + block_starts(0, R"({"type":"text","text":"x"})");
  EXPECT_EQ(anthropic(begun + happens("error", R"("error":{"type":"overloaded_error","message":"Overloaded"})")),
            "text: x\nerror: model_busy\nmessage: model \"backend\" is busy (529): Overloaded; try again later\n");
  EXPECT_NE(anthropic(begun + happens("error", R"("error":{"type":"api_error","message":"Oops"})"))
                .find("error: model_failed"),
            std::string::npos);
  EXPECT_NE(anthropic(begun + "event: error\ndata: plain words\n\n").find("plain words"), std::string::npos);
  EXPECT_NE(anthropic(begun + "data: nonsense\n\n").find("not JSON"), std::string::npos);
}

TEST(AnthropicStream, CountsThatAreTooLargeAreNone) {
  std::string start = happens(
      "message_start",
      R"("message":{"usage":{"input_tokens":9223372036854775807,"cache_creation_input_tokens":9223372036854775807}})");
  EXPECT_NE(anthropic(start + message_ends("end_turn")).find("usage: 0 in, 9 out"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
