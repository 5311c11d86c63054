// What the scripted model says to requests as agents send them, in each dialect.
#include "harness/model/model_reply.h"

#include <gtest/gtest.h>

#include "harness/model/model_dialects.h"

namespace shepherd::harness {
namespace {

namespace json = boost::json;

json::object parsed(std::string_view text) {
  return json::parse(text).as_object();
}

constexpr std::string_view kChat = R"({"stream":true,"tools":[
  {"type":"function","function":{"name":"edit","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}},
  {"type":"function","function":{"name":"bash","parameters":{"type":"object","required":["command","description"],
   "properties":{"command":{"type":"string"},"description":{"type":"string"}}}}}],
  "messages":[{"role":"system","content":"You have `tools`."},
   {"role":"user","content":[{"type":"text","text":"Run exactly this: `touch a`"}]}]})";

TEST(ModelReply, CallsTheAgentsShellWithAllThatItDemands) {
  ModelReply reply = reply_to(chat_request(parsed(kChat)));
  ASSERT_TRUE(reply.call);
  EXPECT_EQ(reply.call->tool, "bash");
  EXPECT_EQ(reply.call->input.at("command").as_string(), "touch a");
  EXPECT_TRUE(reply.call->input.contains("description"));
  std::string body = chat_answer(reply, true, 7).body;
  EXPECT_NE(body.find("\"finish_reason\":\"tool_calls\""), std::string::npos) << body;
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n")) << body;
}

TEST(ModelReply, SaysReadyWhenAToolHasAnswered) {
  json::object body = parsed(kChat);
  body["messages"].as_array().push_back(parsed(R"({"role":"tool","tool_call_id":"call_1","content":"done"})"));
  ModelReply reply = reply_to(chat_request(body));
  EXPECT_FALSE(reply.call);
  EXPECT_EQ(reply.words, "ready");
  body["messages"].as_array().push_back(parsed(R"({"role":"user","content":"Run exactly this: `touch b`"})"));
  ASSERT_TRUE(reply_to(chat_request(body)).call) << "a later prompt asks again";
}

TEST(ModelReply, TakesNoReminderOfTheAgentForThePrompt) {
  json::object body = parsed(R"({"tools":[{"name":"Bash","input_schema":{"properties":{"command":{"type":"string"}}}}],
    "messages":[{"role":"user","content":[{"type":"text","text":"Run exactly this: `touch a`"}]},
                {"role":"user","content":"<system-reminder>Be brief.</system-reminder>"}]})");
  ModelReply reply = reply_to(messages_request(body));
  ASSERT_TRUE(reply.call);
  EXPECT_EQ(reply.call->input.at("command").as_string(), "touch a");
  std::string said = messages_answer(reply, true, 1).body;
  EXPECT_NE(said.find("event: message_stop"), std::string::npos) << said;
  EXPECT_NE(said.find(R"("stop_reason":"tool_use")"), std::string::npos) << said;
}

TEST(ModelReply, HasNoCallForAnAgentWithoutAShell) {
  json::object body = parsed(R"({"contents":[{"role":"user","parts":[{"text":"Run exactly this: `touch a`"}]}]})");
  EXPECT_EQ(reply_to(generate_request(body)).words, "ready");
  body["tools"] = json::parse(R"([{"functionDeclarations":[{"name":"run_shell_command",
    "parametersJsonSchema":{"properties":{"command":{"type":"string"}}}}]}])");
  ASSERT_TRUE(reply_to(generate_request(body)).call);
}

TEST(ModelReply, GivesAListOfWordsWhereTheToolTakesOne) {
  json::object body = parsed(R"({"tools":[{"type":"function","name":"shell","parameters":{"properties":{"command":
    {"type":"array"}}}}],"input":[{"role":"user","content":[{"type":"input_text","text":"Run exactly this: `touch a`"}]}]})");
  ModelReply reply = reply_to(responses_request(body));
  ASSERT_TRUE(reply.call);
  EXPECT_EQ(json::serialize(reply.call->input), R"({"command":["sh","-c","touch a"]})");
  body["input"].as_array().push_back(parsed(R"({"type":"function_call_output","call_id":"c","output":"ok"})"));
  EXPECT_EQ(reply_to(responses_request(body)).words, "ready");
}

}  // namespace
}  // namespace shepherd::harness
