// What probes ask, and what they find in the answers.
#include <gtest/gtest.h>

#include <map>

#include "llm/inquiry.h"
#include "llm/limits.h"
#include "llm/probe_facts.h"

namespace shepherd {
namespace {

struct Replied {
  int status;
  std::string body;
};

class Probing : public ::testing::Test {
 protected:
  // Answers what is in `replies` by path, everything else with 404. Keeps the questions.
  template <class Asked>
  void answer(Asked& inquiry) {
    asked.clear();
    while (auto question = inquiry.next()) {
      std::string path = (question->at_root ? "/" : "base") + question->path;
      asked += (question->body.empty() ? "" : "POST ") + path + " ";
      auto found = replies.find(question->path);
      if (found == replies.end()) {
        inquiry.take(404, "");
      } else {
        inquiry.take(found->second.status, found->second.body);
      }
    }
  }
  Findings openai() { return run(probe_openai(config)); }
  Findings anthropic() { return run(probe_anthropic(config)); }
  Findings ollama() { return run(probe_ollama(config)); }
  Findings run(std::unique_ptr<Probe> probe) {
    answer(*probe);
    return probe->findings();
  }

  ModelConfig config = [] {
    ModelConfig made;
    made.model = "m";
    return made;
  }();
  std::map<std::string, Replied> replies;
  std::string asked;
};

TEST_F(Probing, LlamaCppHasItsContextPerSlotAndCounts) {
  replies["/models"] = {200,
                        R"({"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx_train":131072,"n_ctx":32768}}]})"};
  replies["/props"] = {200, R"({"default_generation_settings":{"n_ctx":16384},"total_slots":2})"};
  replies["/chat/completions/input_tokens"] = {200, R"({"input_tokens":3})"};
  Findings found = openai();
  EXPECT_EQ(found.facts.context_tokens, 16'384);
  EXPECT_TRUE(found.facts.counts_exactly);
  EXPECT_EQ(found.count, CountWay::input_tokens);
  EXPECT_EQ(found.server, ModelServerKind::llama_cpp);
  EXPECT_EQ(found.facts.warning, "");
  EXPECT_EQ(asked, "base/models //props POST base/chat/completions/input_tokens ");
}

TEST_F(Probing, AnOlderLlamaCppCountsInTwoSteps) {
  replies["/models"] = {200, R"({"data":[{"id":"m"}]})"};
  replies["/props"] = {200, R"({"default_generation_settings":{"n_ctx":16384}})"};
  replies["/apply-template"] = {200, R"({"prompt":"x"})"};
  EXPECT_EQ(openai().count, CountWay::template_and_tokenize);
  replies.erase("/apply-template");
  Findings found = openai();
  EXPECT_EQ(found.count, CountWay::none);
  EXPECT_FALSE(found.facts.counts_exactly);
}

TEST_F(Probing, VllmTellsItsLengthAndTokenizes) {
  replies["/models"] = {200, R"({"data":[{"id":"other"},{"id":"m","owned_by":"vllm","max_model_len":40960}]})"};
  replies["/tokenize"] = {200, R"({"count":1})"};
  Findings found = openai();
  EXPECT_EQ(found.facts.context_tokens, 40'960);
  EXPECT_EQ(found.count, CountWay::tokenize);
  EXPECT_EQ(found.server, ModelServerKind::vllm);
}

TEST_F(Probing, OllamaBehindOpenAisAddressIsWarnedAbout) {
  replies["/models"] = {200, R"({"data":[{"id":"m","owned_by":"library"}]})"};
  replies["/api/ps"] = {200, R"({"models":[{"name":"m:latest","context_length":4096}]})"};
  Findings found = openai();
  EXPECT_EQ(found.facts.context_tokens, 4'096);
  EXPECT_NE(found.facts.warning.find("small"), std::string::npos);
  EXPECT_EQ(asked, "base/models //api/ps ");
  replies["/api/ps"] = {200, R"({"models":[]})"};
  replies["/api/show"] = {200, "{\"parameters\":\"temperature 1\\nnum_ctx      16384\\n\"}"};
  found = openai();
  EXPECT_EQ(found.facts.context_tokens, 16'384);
  EXPECT_NE(found.facts.warning.find("cuts long prompts silently"), std::string::npos);
}

TEST_F(Probing, TensorRtAndOpenAiTellNothing) {
  replies["/models"] = {200, R"({"data":[{"id":"m","owned_by":"tensorrt_llm"}]})"};
  Findings found = openai();
  EXPECT_EQ(asked, "base/models ") << "no questions that would be refused";
  EXPECT_EQ(found.facts.context_tokens, 0);
  EXPECT_NE(found.facts.warning.find("set \"context\""), std::string::npos);
}

TEST_F(Probing, ConfiguredValuesWin) {
  config.context_tokens = 20'000;
  replies["/models"] = {200, R"({"data":[{"id":"m","owned_by":"vllm","max_model_len":10000}]})"};
  Findings found = openai();
  EXPECT_EQ(found.facts.context_tokens, 20'000);
  EXPECT_NE(found.facts.warning.find("configured as 20000 tokens, but the server has 10000"), std::string::npos);
}

TEST_F(Probing, AModelThatIsNotListedIsWarnedAbout) {
  replies["/models"] = {200, R"({"data":[{"id":"other","owned_by":"x","context_length":9000}]})"};
  Findings found = openai();
  EXPECT_EQ(found.facts.model, "m");
  EXPECT_EQ(found.facts.context_tokens, 0) << "not the other's";
  EXPECT_NE(found.facts.warning.find("does not list a model \"m\""), std::string::npos);
  config.model.clear();
  found = openai();
  EXPECT_EQ(found.facts.model, "other");
  EXPECT_EQ(found.facts.context_tokens, 9'000);
}

TEST_F(Probing, AnthropicTellsBothBounds) {
  replies["/models/m"] = {200, R"({"id":"m","max_input_tokens":200000,"max_tokens":64000})"};
  Findings found = anthropic();
  EXPECT_EQ(found.facts.context_tokens, 200'000);
  EXPECT_EQ(found.facts.max_output_tokens, 64'000);
  EXPECT_EQ(found.count, CountWay::anthropic);
  EXPECT_FALSE(found.facts.counts_exactly) << "it is an estimate, by its own words";
  config.max_output_tokens = 1'000;
  EXPECT_EQ(anthropic().facts.max_output_tokens, 1'000);
}

TEST_F(Probing, AnthropicsDialectOnLlamaCpp) {
  replies["/models"] = {200, R"({"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx":32768}}]})"};
  replies["/props"] = {200, R"({"default_generation_settings":{"n_ctx":8192}})"};
  EXPECT_EQ(anthropic().facts.context_tokens, 8'192);
  config.model.clear();
  replies["/models/m"] = {200, R"({"id":"m","max_input_tokens":null})"};
  Findings found = anthropic();
  EXPECT_EQ(found.facts.model, "m");
}

TEST_F(Probing, OllamaUsesTheSmallestThatIsCertain) {
  replies["/api/show"] = {200, R"({"model_info":{"llama.context_length":131072}})"};
  EXPECT_EQ(ollama().facts.context_tokens, kUntoldOllamaContext) << "untold";
  replies["/api/ps"] = {200, R"({"models":[{"model":"m","context_length":32768}]})"};
  EXPECT_EQ(ollama().facts.context_tokens, 32'768) << "allocated";
  config.context_tokens = 65'536;
  EXPECT_EQ(ollama().facts.context_tokens, 65'536) << "it is sent with every request";
  config.context_tokens = 262'144;
  EXPECT_NE(ollama().facts.warning.find("the server has 131072"), std::string::npos);
  config.model.clear();
  replies["/api/tags"] = {200, R"({"models":[{"name":"first:7b"},{"name":"x"}]})"};
  EXPECT_EQ(ollama().facts.model, "first:7b");
  replies.erase("/api/show");
  config.model = "gone";
  EXPECT_NE(ollama().facts.warning.find("no model \"gone\""), std::string::npos);
}

TEST_F(Probing, NonsenseIsNoAnswer) {
  for (const char* body : {"", "[]", "{\"data\":{}}", "{\"data\":[1]}", "nonsense"}) {
    for (const char* path : {"/models", "/props", "/models/m", "/api/show", "/api/ps"}) replies[path] = {200, body};
    EXPECT_EQ(openai().facts.context_tokens, 0) << body;
    EXPECT_EQ(anthropic().facts.context_tokens, 0) << body;
    EXPECT_EQ(ollama().facts.context_tokens, kUntoldOllamaContext) << body;
  }
}

TEST_F(Probing, CountingReadsEachServersAnswer) {
  struct Case {
    CountWay way;
    const char* path;
    const char* body;
    const char* asked;
  };
  const Case cases[] = {
      {CountWay::input_tokens, "/chat/completions/input_tokens", R"({"input_tokens":12})",
       "POST base/chat/completions/input_tokens "},
      {CountWay::tokenize, "/tokenize", R"({"count":12,"tokens":[]})", "POST //tokenize "},
      {CountWay::anthropic, "/messages/count_tokens", R"({"input_tokens":12})", "POST base/messages/count_tokens "},
  };
  for (const Case& each : cases) {
    replies = {{each.path, {200, each.body}}};
    auto counting = count_tokens(each.way, "{}", "b");
    answer(*counting);
    ASSERT_TRUE(counting->tokens());
    EXPECT_EQ(*counting->tokens(), 12);
    EXPECT_EQ(asked, each.asked);
    replies = {{each.path, {200, "{}"}}};
    counting = count_tokens(each.way, "{}", "b");
    answer(*counting);
    EXPECT_EQ(counting->tokens().error().reason, "no_count");
    replies = {{each.path, {400, R"({"error":{"type":"exceed_context_size_error","n_ctx":5}})"}}};
    counting = count_tokens(each.way, "{}", "b");
    answer(*counting);
    EXPECT_EQ(counting->tokens().error().reason, "context_full");
  }
}

TEST_F(Probing, CountingInTwoStepsCountsTheTokens) {
  replies = {{"/apply-template", {200, R"({"prompt":"a \"b\""})"}}, {"/tokenize", {200, R"({"tokens":[1,2,3]})"}}};
  auto counting = count_tokens(CountWay::template_and_tokenize, "{}", "b");
  answer(*counting);
  EXPECT_EQ(*counting->tokens(), 3);
  EXPECT_EQ(asked, "POST //apply-template POST //tokenize ");
  replies["/tokenize"] = {500, ""};
  counting = count_tokens(CountWay::template_and_tokenize, "{}", "b");
  answer(*counting);
  EXPECT_FALSE(counting->tokens());
}

TEST_F(Probing, WhoCannotCountSaysSo) {
  auto counting = count_tokens(CountWay::none, "", "b");
  answer(*counting);
  EXPECT_EQ(counting->tokens().error().reason, "no_count");
  EXPECT_EQ(asked, "");
}

}  // namespace
}  // namespace shepherd
