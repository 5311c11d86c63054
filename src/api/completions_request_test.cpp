#include "api/completions_request.h"

#include <gtest/gtest.h>

#include <variant>

namespace shepherd {
namespace {

CompletionBody read_good(std::string_view json) {
  auto body = read_completion(json);
  EXPECT_TRUE(body) << body.error().message;
  return body ? *body : CompletionBody();
}

// The member that the error names.
std::string wrong_member(std::string_view json) {
  auto body = read_completion(json);
  EXPECT_FALSE(body) << json;
  if (body || body.error().fields.empty()) return "";
  return std::get<std::string>(body.error().fields.front().value);
}

std::string with(std::string_view members) {
  return R"({"model":"m","messages":[{"role":"user","content":"hi"}],)" + std::string(members) + "}";
}
std::string with_message(std::string_view message) {
  return R"({"model":"m","messages":[)" + std::string(message) + "]}";
}

TEST(CompletionRequest, ReadsAPlainConversation) {
  CompletionBody body = read_good(R"({"model":"m","messages":[{"role":"developer","content":"be terse"},
      {"role":"user","content":"hi"},{"role":"assistant","content":"yes?","reasoning_content":"hm"},
      {"role":"user","content":[{"type":"text","text":"again"}]}]})");
  EXPECT_EQ(body.model, "m");
  ASSERT_EQ(body.request.messages.size(), 4u);
  EXPECT_EQ(body.request.messages[0].role, Role::system);
  EXPECT_EQ(body.request.messages[1].content, "hi");
  EXPECT_EQ(body.request.messages[2].reasoning, "hm");
  EXPECT_EQ(body.request.messages[3].content, "again") << "one text is a text";
  EXPECT_TRUE(body.request.messages[3].parts.empty());
  EXPECT_FALSE(body.stream);
  EXPECT_TRUE(body.request.options.empty());
}

TEST(CompletionRequest, PassesPartsOfAUserOn) {
  CompletionBody body = read_good(with_message(
      R"({"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]})"));
  EXPECT_EQ(
      body.request.messages[0].parts,
      R"([{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}])");
}

TEST(CompletionRequest, JoinsTheTextsOfOthers) {
  CompletionBody body =
      read_good(with_message(R"({"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"));
  EXPECT_EQ(body.request.messages[0].content, "a\nb");
  EXPECT_EQ(wrong_member(with_message(R"({"role":"system","content":[{"type":"image_url","image_url":{"url":"x"}}]})")),
            "messages[0].content");
}

TEST(CompletionRequest, ReadsToolCallsAndResults) {
  CompletionBody body = read_good(R"({"model":"m","messages":[{"role":"user","content":"x"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
        {"id":"c2","type":"function","function":{"name":"g","arguments":{"b":2}}},{"id":"c3","function":{"name":"h"}}]},
      {"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"two"}]}]})");
  ASSERT_EQ(body.request.messages.size(), 4u);
  EXPECT_EQ(body.request.messages[1].tool_calls,
            (std::vector<ToolRequest>{{"c1", "f", R"({"a":1})"}, {"c2", "g", R"({"b":2})"}, {"c3", "h", "{}"}}));
  EXPECT_EQ(body.request.messages[2].tool_call_id, "c1");
  EXPECT_EQ(body.request.messages[3].content, "two");
}

TEST(CompletionRequest, ReadsTools) {
  CompletionBody body = read_good(with(
      R"("tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}},
         {"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false)"));
  ASSERT_EQ(body.request.tools.size(), 2u);
  EXPECT_EQ(body.request.tools[0].parameters, R"({"type":"object"})");
  EXPECT_EQ(body.request.tools[1].parameters, "");
  EXPECT_EQ(body.request.tool_choice, R"({"type":"function","function":{"name":"f"}})");
  EXPECT_EQ(body.request.options, R"({"parallel_tool_calls":false})");
  EXPECT_EQ(read_good(with(R"("tool_choice":"none")")).request.tool_choice, R"("none")");
}

TEST(CompletionRequest, PassesKnownOptionsOnAndIgnoresOthers) {
  CompletionBody body = read_good(with(R"("temperature":0.5,"stop":["\n"],"response_format":{"type":"json_object"},
      "top_p":null,"store":true,"metadata":{"a":"b"},"chat_id":"x","session_id":7,"background_tasks":{"title":true})"));
  EXPECT_EQ(body.request.options, R"({"temperature":0.5,"stop":["\n"],"response_format":{"type":"json_object"}})");
}

TEST(CompletionRequest, ReadsBothNamesOfTheBound) {
  EXPECT_EQ(read_good(with(R"("max_tokens":7)")).request.max_tokens, 7);
  EXPECT_EQ(read_good(with(R"("max_tokens":-1)")).request.max_tokens, 0) << "no bound";
  EXPECT_EQ(read_good(with(R"("max_tokens":null)")).request.max_tokens, 0);
  CompletionBody newer = read_good(with(R"("max_tokens":7,"max_completion_tokens":9)"));
  EXPECT_EQ(newer.request.max_tokens, 9);
  EXPECT_EQ(newer.request.options, R"({"max_completion_tokens":9})");
  EXPECT_EQ(wrong_member(with(R"("max_tokens":"7")")), "max_tokens");
}

TEST(CompletionRequest, ReadsHowToStream) {
  CompletionBody body = read_good(with(R"("stream":true,"stream_options":{"include_usage":true,"other":1})"));
  EXPECT_TRUE(body.stream);
  EXPECT_TRUE(body.include_usage);
  EXPECT_EQ(wrong_member(with(R"("stream":"yes")")), "stream");
  EXPECT_EQ(wrong_member(with(R"("stream_options":true)")), "stream_options");
}

TEST(CompletionRequest, NamesWhatIsWrong) {
  EXPECT_EQ(wrong_member(R"({"messages":[{"role":"user","content":"x"}]})"), "model");
  EXPECT_EQ(wrong_member(R"({"model":"m"})"), "messages");
  EXPECT_EQ(wrong_member(R"({"model":"m","messages":[]})"), "messages");
  EXPECT_EQ(wrong_member(R"({"model":"m","messages":"hi"})"), "messages");
  EXPECT_EQ(wrong_member(R"({"model":"m","messages":["hi"]})"), "messages");
  EXPECT_EQ(wrong_member(with_message(R"({"content":"x"})")), "messages[0].role");
  EXPECT_EQ(wrong_member(with_message(R"({"role":"user","content":"x"},{"role":"function","content":"x"})")),
            "messages[1].role");
  EXPECT_EQ(wrong_member(with_message(R"({"role":"user","content":7})")), "messages[0].content");
  EXPECT_EQ(wrong_member(with_message(R"({"role":"user","content":[{"text":"x"},7]})")), "messages[0].content");
  EXPECT_EQ(wrong_member(with_message(R"({"role":"tool","content":"x"})")), "messages[0].tool_call_id");
  EXPECT_EQ(wrong_member(with_message(R"({"role":"assistant","tool_calls":[{"id":"x"}]})")),
            "messages[0].tool_calls[0].function");
  EXPECT_EQ(wrong_member(with(R"("tools":[{"type":"web_search"}])")), "tools[0].type");
  EXPECT_EQ(wrong_member(with(R"("tools":[{"type":"function","function":{"name":"a b"}}])")), "tools[0].function.name");
  EXPECT_EQ(wrong_member(with(R"("tools":[{"type":"function","function":{"name":"a","parameters":[]}}])")),
            "tools[0].function.parameters");
  EXPECT_EQ(wrong_member(with(R"("n":2)")), "n");
  EXPECT_EQ(wrong_member(with(R"("logprobs":true)")), "logprobs");
  EXPECT_EQ(wrong_member(with(R"("tool_choice":7)")), "tool_choice");
  EXPECT_EQ(read_completion("[]").error().reason, "bad_json");
  EXPECT_EQ(read_completion("{").error().reason, "bad_json");
}

}  // namespace
}  // namespace shepherd
