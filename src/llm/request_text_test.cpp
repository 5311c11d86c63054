// The bodies of requests in each dialect, as texts.
#include "llm/request_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "json/read.h"
#include "json/scan.h"
#include "llm/limits.h"
#include "llm/request_parts.h"

namespace shepherd {
namespace {

ModelMessage message_of(Role role, std::string content) {
  ModelMessage message;
  message.role = role;
  message.content = std::move(content);
  return message;
}
ModelMessage asks_for(std::vector<ToolRequest> calls, std::string content = "") {
  ModelMessage message = message_of(Role::assistant, std::move(content));
  message.tool_calls = std::move(calls);
  return message;
}
ModelMessage result_of(std::string id, std::string content, bool failed = false) {
  ModelMessage message = message_of(Role::tool, std::move(content));
  message.tool_call_id = std::move(id);
  message.tool_name = "x";
  message.failed = failed;
  return message;
}

class RequestText : public ::testing::Test {
 protected:
  RequestPlan plan(RequestUse use = RequestUse::answer) { return {config, "m", max_output, parallel, use}; }
  std::string checked(std::string body) {
    JsonParser parser(body.size());
    EXPECT_TRUE(parser.parse(body)) << body;
    return body;
  }
  std::string openai() { return checked(openai_request(plan(), request)); }
  std::string anthropic() { return checked(anthropic_request(plan(), request)); }
  std::string ollama() { return checked(ollama_request(plan(), request)); }
  // A user's question, two calls, their results.
  void two_calls() {
    request.messages = {message_of(Role::system, "Be kind."), message_of(Role::user, "Ask"),
                        asks_for({{"a", "time", "{}"}, {"b", "weather", R"({ "city": 1 })"}}, "Let me see."),
                        result_of("a", "noon"), result_of("b", "no idea", true)};
  }

  ModelConfig config = [] {
    ModelConfig made;
    made.name = "backend";
    return made;
  }();
  std::int64_t max_output = 0;
  bool parallel = false;
  ModelRequest request = [] {
    ModelRequest made;
    made.messages = {message_of(Role::user, "Hi")};
    return made;
  }();
};

TEST_F(RequestText, OpenAiHasTheCommonDenominator) {
  EXPECT_EQ(
      openai(),
      R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true}})");
  request.max_tokens = 7;
  EXPECT_EQ(find_member(openai(), "max_tokens"), "7");
  EXPECT_EQ(openai_request(plan(RequestUse::count), request).find("stream"), std::string::npos)
      << "vLLM refuses it alone";
}

TEST_F(RequestText, OpenAiWritesCallsAndResults) {
  two_calls();
  EXPECT_EQ(
      find_member(openai(), "messages"),
      R"([{"role":"system","content":"Be kind."},{"role":"user","content":"Ask"},)"
      R"({"role":"assistant","content":"Let me see.","tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"time","arguments":"{}"}},)"
      R"({"id":"b","type":"function","function":{"name":"weather","arguments":"{\"city\":1}"}}]},)"
      R"({"role":"tool","content":"noon","tool_call_id":"a"},{"role":"tool","content":"no idea","tool_call_id":"b"}])");
}

// TensorRT-LLM refuses members that it does not have, and lets the model call nothing unless it is told "auto".
TEST_F(RequestText, OpenAiToolsAreChosenByTheModel) {
  request.tools = {
      {"x", "Does x", R"({"$schema":"http://json-schema.org/draft-07/schema#","properties":{"l":{"type":"array"}}})"}};
  std::string body = openai();
  EXPECT_EQ(find_member(body, "tool_choice"), R"("auto")");
  EXPECT_EQ(find_member(body, "tools"),
            R"([{"type":"function","function":{"name":"x","description":"Does x","parameters":)"
            R"({"properties":{"l":{"type":"array","items":{}}},"type":"object"}}}])");
  EXPECT_EQ(find_member(body, "parallel_tool_calls"), "");
  for (JsonMembers members(body); members.next();) {
    EXPECT_NE(std::string(" model messages tools tool_choice stream stream_options ")
                  .find(" " + std::string(members.key()) + " "),
              std::string::npos);
  }
  request.tool_choice = R"("none")";
  EXPECT_EQ(find_member(openai(), "tool_choice"), R"("none")");
  parallel = true;
  EXPECT_EQ(find_member(openai(), "parallel_tool_calls"), "true") << "llama.cpp wants to be told";
  request.options = R"({"parallel_tool_calls":false})";
  EXPECT_EQ(find_member(openai(), "parallel_tool_calls"), "false");
}

TEST_F(RequestText, OpenAiTakesOptionsButNotItsOwnMembers) {
  config.options = R"({"temperature":0.5,"top_p":0.1,"max_completion_tokens":1,"stream":false})";
  request.options = R"({"temperature":1,"n":3,"messages":[],"stop":["a"]})";
  request.max_tokens = 9;
  std::string body = openai();
  EXPECT_EQ(find_member(body, "temperature"), "1");
  EXPECT_EQ(find_member(body, "top_p"), "0.1");
  EXPECT_EQ(find_member(body, "stop"), R"(["a"])");
  EXPECT_EQ(find_member(body, "n"), "");
  EXPECT_EQ(find_member(body, "stream"), "true");
  EXPECT_EQ(find_member(body, "max_completion_tokens"), "9") << "newer models of OpenAI refuse the other name";
  EXPECT_EQ(find_member(body, "max_tokens"), "");
}

TEST_F(RequestText, OpenAiSendsReasoningBackOnlyIntoTheLoop) {
  two_calls();
  request.messages.insert(request.messages.begin() + 1,
                          {message_of(Role::user, "a"), message_of(Role::assistant, "b")});
  request.messages[2].reasoning = "old";
  request.messages[4].reasoning = "new";
  EXPECT_EQ(openai().find("reasoning_content"), std::string::npos);
  config.reasoning_back = true;
  EXPECT_NE(openai().find(R"("reasoning_content":"new")"), std::string::npos);
  EXPECT_EQ(openai().find("old"), std::string::npos);
}

// A model can invent names and arguments; the backend must take the history all the same.
TEST_F(RequestText, EveryDialectSendsBackWhatBackendsTake) {
  request.messages.push_back(asks_for({{"i.1:0", "no such/tool", "{half"}, {"j", "", "[]"}}));
  request.messages.push_back(result_of("i.1:0", "no"));
  request.messages.push_back(result_of("j", "no"));
  for (const std::string& body : {openai(), anthropic(), ollama()}) {
    EXPECT_NE(body.find(R"("name":"no_such_tool")"), std::string::npos) << body;
    EXPECT_NE(body.find(R"("name":"unnamed")"), std::string::npos) << body;
    EXPECT_EQ(body.find("half"), std::string::npos) << body;
  }
  EXPECT_NE(anthropic().find(R"("id":"i_1_0")"), std::string::npos);
  EXPECT_NE(anthropic().find(R"("tool_use_id":"i_1_0")"), std::string::npos);
  EXPECT_NE(openai().find(R"("tool_call_id":"i.1:0")"), std::string::npos);
  EXPECT_EQ(call_name(std::string(70, 'x')), std::string(64, 'x'));
}

TEST_F(RequestText, OpenAiPassesContentPartsOn) {
  request.messages[0].parts =
      R"([{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}])";
  EXPECT_EQ(find_member(array_elements(find_member(openai(), "messages"))->front(), "content"),
            request.messages[0].parts);
}

TEST_F(RequestText, AnthropicAlternatesAndKeepsResultsInOneMessage) {
  two_calls();
  request.messages.push_back(message_of(Role::user, "And quickly."));
  std::string body = anthropic();
  EXPECT_EQ(find_member(body, "system"), R"("Be kind.")");
  EXPECT_EQ(find_member(body, "max_tokens"), std::to_string(kUntoldMaxTokens));
  EXPECT_EQ(
      find_member(body, "messages"),
      R"([{"role":"user","content":[{"type":"text","text":"Ask"}]},)"
      R"({"role":"assistant","content":[{"type":"text","text":"Let me see."},)"
      R"({"type":"tool_use","id":"a","name":"time","input":{}},{"type":"tool_use","id":"b","name":"weather","input":{"city":1}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"noon"},)"
      R"({"type":"tool_result","tool_use_id":"b","content":"no idea","is_error":true},{"type":"text","text":"And quickly."}]}])");
}

TEST_F(RequestText, AnthropicHasNoEmptyTextAndTheUserSpeaksFirst) {
  request.messages = {message_of(Role::assistant, "x"), message_of(Role::user, " \n")};
  EXPECT_EQ(
      find_member(anthropic(), "messages"),
      R"x([{"role":"user","content":[{"type":"text","text":"(empty)"}]},{"role":"assistant","content":[{"type":"text","text":"x"}]},)x"
      R"x({"role":"user","content":[{"type":"text","text":"(empty)"}]}])x");
  request.messages = {message_of(Role::system, "s")};
  EXPECT_EQ(find_member(anthropic(), "messages"), R"x([{"role":"user","content":[{"type":"text","text":"(empty)"}]}])x")
      << "to count a system prompt alone";
  request.messages = {message_of(Role::user, "q"), asks_for({{"a", "x", "{}"}}, "  "), result_of("a", "")};
  EXPECT_EQ(anthropic().find("(empty)"), std::string::npos) << "a call needs no words";
}

TEST_F(RequestText, AnthropicGetsItsThinkingBackUnchangedInTheLoop) {
  two_calls();
  const std::string block = R"({"type":"thinking","thinking":"a \u00e9","signature":"S/="})";
  request.messages[2].reasoning_state = R"({"backend":"backend","blocks":[)" + block + "]}";
  config.options = R"({"thinking":{"type":"enabled","budget_tokens":1024}})";
  std::string begin = R"({"role":"assistant","content":[)" + block + R"(,{"type":"text","text":"Let me see."})";
  EXPECT_NE(anthropic().find(begin), std::string::npos);
  EXPECT_NE(find_member(anthropic(), "thinking"), "");
  request.messages.push_back(message_of(Role::user, "And quickly."));
  request.messages.push_back(message_of(Role::user, "Please."));
  EXPECT_NE(anthropic().find(begin), std::string::npos) << "words into the loop do not end it";
  request.messages.push_back(message_of(Role::assistant, "Done."));
  request.messages.push_back(message_of(Role::user, "Next."));
  EXPECT_EQ(anthropic().find("signature"), std::string::npos) << "the loop is over";
  EXPECT_NE(find_member(anthropic(), "thinking"), "");
}

TEST_F(RequestText, AnthropicDoesNotThinkInALoopWhoseThinkingIsLost) {
  two_calls();
  config.options = R"({"thinking":{"type":"enabled","budget_tokens":1024}})";
  EXPECT_EQ(find_member(anthropic(), "thinking"), "") << "there was none";
  request.messages[2].reasoning_state = R"({"backend":"other","blocks":[{"type":"thinking","signature":"S"}]})";
  EXPECT_EQ(find_member(anthropic(), "thinking"), "") << "another backend began";
  EXPECT_EQ(anthropic().find("signature"), std::string::npos);
}

TEST_F(RequestText, AnthropicBoundsTheAnswerAndTranslatesOptions) {
  request.max_tokens = 9'000;
  max_output = 8'000;
  request.options = R"({"stop":"a","temperature":1,"user":"u","frequency_penalty":1})";
  config.options = R"({"tools":[],"metadata":{"user_id":"x"}})";
  request.tools = {{"x", "Does x", R"({"type":"object","properties":{}})"}};
  std::string body = anthropic();
  EXPECT_EQ(find_member(body, "max_tokens"), "8000");
  EXPECT_EQ(find_member(body, "stop_sequences"), R"(["a"])");
  EXPECT_EQ(find_member(body, "temperature"), "1");
  EXPECT_EQ(find_member(body, "user"), "");
  EXPECT_EQ(find_member(body, "metadata"), R"({"user_id":"x"})");
  EXPECT_EQ(find_member(body, "tools"),
            R"([{"name":"x","description":"Does x","input_schema":{"type":"object","properties":{}}}])");
  EXPECT_EQ(body.find("\"tools\":", body.find("\"tools\":") + 1), std::string::npos) << "once";
  request.max_tokens = 0;
  EXPECT_EQ(find_member(anthropic(), "max_tokens"), "8000");
  std::string counted = anthropic_request(plan(RequestUse::count), request);
  for (const char* key : {"max_tokens", "stream", "temperature", "stop_sequences"})
    EXPECT_EQ(find_member(counted, key), "") << key;
}

TEST_F(RequestText, AnthropicTranslatesTheChoiceOfTools) {
  request.tools = {{"x", "", "{}"}};
  for (auto [choice, wanted] :
       {std::pair(R"("auto")", ""), std::pair(R"("none")", R"({"type":"none"})"),
        std::pair(R"("required")", R"({"type":"any"})"),
        std::pair(R"({"type":"function","function":{"name":"x"}})", R"({"type":"tool","name":"x"})")}) {
    request.tool_choice = choice;
    EXPECT_EQ(find_member(anthropic(), "tool_choice"), wanted) << choice;
  }
}

TEST_F(RequestText, AnthropicTakesImages) {
  request.messages[0].parts =
      R"([{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":"https://e.org/a.png"}])";
  EXPECT_EQ(find_member(anthropic(), "messages"),
            R"([{"role":"user","content":[{"type":"text","text":"see"},)"
            R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},)"
            R"({"type":"image","source":{"type":"url","url":"https://e.org/a.png"}}]}])");
}

// By default Ollama silently cuts the beginning of a long prompt.
TEST_F(RequestText, OllamaIsToldItsContextAndNotToCut) {
  config.context_tokens = 16'384;
  config.options = R"({"temperature":0.5,"keep_alive":"5m","think":true})";
  request.options = R"({"stop":["a"],"user":"u","response_format":{"type":"json_object"}})";
  request.max_tokens = 9;
  std::string body = ollama();
  EXPECT_EQ(find_member(body, "truncate"), "false");
  EXPECT_EQ(find_member(body, "shift"), "false");
  EXPECT_EQ(find_member(body, "stream"), "true");
  EXPECT_EQ(find_member(body, "keep_alive"), R"("5m")");
  EXPECT_EQ(find_member(body, "think"), "true");
  EXPECT_EQ(find_member(body, "format"), R"("json")");
  EXPECT_EQ(find_member(body, "options"), R"({"num_ctx":16384,"num_predict":9,"stop":["a"],"temperature":0.5})");
  config.context_tokens = 0;
  EXPECT_EQ(find_member(find_member(ollama(), "options"), "num_ctx"), "");
  request.options = R"({"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}})";
  EXPECT_EQ(find_member(ollama(), "format"), R"({"type":"object"})");
}

TEST_F(RequestText, OllamaWritesCallsResultsAndImages) {
  two_calls();
  request.messages[1].parts =
      R"([{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}])";
  request.messages[1].content.clear();
  EXPECT_EQ(
      find_member(ollama(), "messages"),
      R"([{"role":"system","content":"Be kind."},{"role":"user","content":"see","images":["AAAA"]},)"
      R"({"role":"assistant","content":"Let me see.","tool_calls":[{"id":"a","function":{"name":"time","arguments":{}}},)"
      R"({"id":"b","function":{"name":"weather","arguments":{"city":1}}}]},)"
      R"({"role":"tool","content":"noon","tool_name":"x","tool_call_id":"a"},{"role":"tool","content":"no idea","tool_name":"x","tool_call_id":"b"}])");
  request.tools = {{"x", "", "{}"}};
  EXPECT_NE(find_member(ollama(), "tools"), "");
  request.tool_choice = R"("none")";
  EXPECT_EQ(find_member(ollama(), "tools"), "");
}

// What a tool returned beside its text: two results, of which the first has images, and a word into the loop.
TEST_F(RequestText, ImagesOfToolsGoToBackendsThatTakeThem) {
  two_calls();
  request.messages[3].image_count = 2;
  request.messages[3].images = std::make_shared<const std::vector<ModelImage>>(
      std::vector<ModelImage>{{"image/png", "AAAA"}, {"image/jpeg", "BBBB"}});
  request.messages[4].image_count = 1;  // its image is not in memory any more
  request.messages.push_back(message_of(Role::user, "And quickly."));
  auto golden = [](const std::string& file) {
    std::ifstream stream(std::filesystem::path(SHEPHERD_GOLDEN_DIR) / "llm" / "requests" / file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    while (text.ends_with('\n')) text.pop_back();
    return text;
  };
  config.images = true;
  EXPECT_EQ(openai(), golden("openai-tool-images.json"));
  EXPECT_EQ(anthropic(), golden("anthropic-tool-images.json"));
  EXPECT_EQ(ollama(), golden("ollama-tool-images.json"));
  RequestPlan alternate = plan();
  alternate.habits.alternating = true;
  EXPECT_EQ(checked(openai_request(alternate, request)), golden("openai-tool-images-alternating.json"));
  config.images = false;
  for (const std::string& body : {openai(), anthropic(), ollama()}) {
    EXPECT_EQ(body.find("AAAA"), std::string::npos) << body;
    EXPECT_NE(body.find(R"(noon\n[2 images not shown: m takes no images])"), std::string::npos) << body;
  }
}

TEST_F(RequestText, SchemasAreObjectsWhoseArraysHaveItems) {
  EXPECT_EQ(tool_schema("nonsense"), R"({"type":"object","properties":{}})");
  EXPECT_EQ(tool_schema("[]"), R"({"type":"object","properties":{}})");
  EXPECT_EQ(
      tool_schema(
          R"({"type":"object","properties":{"a":{"anyOf":[{"type":["array","null"]},{"type":"array","items":{"type":"array"}}]}}})"),
      R"({"type":"object","properties":{"a":{"anyOf":[{"type":["array","null"],"items":{}},{"type":"array","items":{"type":"array","items":{}}}]}}})");
  EXPECT_EQ(tool_schema(R"({"type":"object","properties":{"a":{"type":"array","prefixItems":[{}]}}})"),
            R"({"type":"object","properties":{"a":{"type":"array","prefixItems":[{}]}}})");
}

TEST_F(RequestText, TheLoopBeginsBehindThePrompt) {
  using enum Role;
  auto at = [](const std::vector<Role>& roles) {
    std::vector<ModelMessage> messages;
    for (Role role : roles) messages.push_back(message_of(role, "x"));
    return loop_start(messages);
  };
  EXPECT_EQ(at({}), 0U);
  EXPECT_EQ(at({assistant}), 0U);
  EXPECT_EQ(at({system, user}), 2U);
  EXPECT_EQ(at({user, assistant, user, assistant, tool}), 3U);
  EXPECT_EQ(at({user, assistant, tool, user, user, assistant, tool}), 1U) << "words into the loop";
  EXPECT_EQ(at({user, assistant, tool, assistant, user}), 5U);
}

}  // namespace
}  // namespace shepherd
