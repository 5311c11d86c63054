#include "config/config_models.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

ModelConfig parsed_model(const std::string& yaml) {
  auto model = parse_model_entry("local", yaml);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return model.value_or(ModelConfig());
}
std::string model_mistake(const std::string& yaml) {
  auto model = parse_model_entry("local", yaml);
  return model ? "no error" : model.error().message;
}

const std::string kUrl = "url: http://127.0.0.1:8000/v1";

TEST(ConfigModels, NeedAnAddressOnly) {
  ModelConfig model = parsed_model(kUrl);
  EXPECT_EQ(model.name, "local");
  EXPECT_EQ(model.dialect, ModelDialect::openai);
  EXPECT_EQ(model.url, "http://127.0.0.1:8000/v1");
  EXPECT_EQ(model.context_tokens, 0);
  EXPECT_FALSE(model.images);
  EXPECT_TRUE(model.price.as_of.empty());
}

TEST(ConfigModels, TakeEverything) {
  ModelConfig model =
      parsed_model("type: anthropic\n" + kUrl +
                   "\nmodel: claude\ncontext: 200000\nmax_output: 8192\nkey_env: KEY\nheaders: {X-A: b}\n"
                   "options: {temperature: 0.5, stop: [\"a\", \"1\"], thinking: {type: enabled, budget_tokens: 1024}, "
                   "user: \"7\", none: ~}\n"
                   "first_token_seconds: 60\nreasoning_back: true\nimages: true\nca: /ca.pem\n"
                   "price: {as_of: 2026-11-01, input: 3, output: 15.5, cache_read: 0.3}\n");
  EXPECT_EQ(model.dialect, ModelDialect::anthropic);
  EXPECT_EQ(model.model, "claude");
  EXPECT_EQ(model.context_tokens, 200'000);
  EXPECT_EQ(model.max_output_tokens, 8'192);
  EXPECT_EQ(model.key_env, "KEY");
  EXPECT_EQ(model.headers.at("X-A"), "b");
  EXPECT_EQ(
      model.options,
      R"({"temperature":5E-1,"stop":["a","1"],"thinking":{"type":"enabled","budget_tokens":1024},"user":"7","none":null})");
  EXPECT_EQ(model.first_token_seconds, 60);
  EXPECT_TRUE(model.reasoning_back);
  EXPECT_TRUE(model.images);
  EXPECT_EQ(model.ca_file, "/ca.pem");
  EXPECT_EQ(model.price.as_of, "2026-11-01");
  EXPECT_EQ(model.price.input, 3.0);
  EXPECT_EQ(model.price.output, 15.5);
  EXPECT_EQ(model.price.cache_read, 0.3);
  EXPECT_FALSE(model.price.cache_write);
}

TEST(ConfigModels, SayWhatIsWrong) {
  struct Case {
    std::string yaml, words;
  };
  const Case cases[] = {
      {"model: x", "needs a \"url\""},
      {"[]", "a model is names with values"},
      {kUrl + "\ntype: gemini", "openai, anthropic or ollama"},
      {kUrl + "\nmodell: x", "did you mean \"model\""},
      {kUrl + "\ncontext: many", "\"context\" is a whole number"},
      {kUrl + "\ncontext: -1", "\"context\" is a whole number"},
      {kUrl + "\nkey_file: a\nkey_env: b", "more than one of"},
      {kUrl + "\nheaders: x", "\"headers\" must be"},
      {kUrl + "\nheaders: {A: \"(not shown)\"}", "was hidden by"},
      {kUrl + "\noptions: x", "\"options\" must be"},
      {kUrl + "\nprice: {input: 3}", "needs \"as_of\""},
      {kUrl + "\nprice: {as_of: d, input: -3}", "a price in US dollars"},
      {kUrl + "\nprice: {as_of: d, inptu: 3}", "did you mean \"input\""},
      {kUrl + "\nprice: 3", "a price is {as_of"},
      {kUrl + "\nmodel: [x]", "\"model\" must be a single value"},
      {"url: [", "not valid YAML"},
  };
  for (const Case& each : cases) {
    EXPECT_NE(model_mistake(each.yaml).find(each.words), std::string::npos) << each.yaml << "\n"
                                                                            << model_mistake(each.yaml);
  }
}

TEST(ConfigModels, ArePrintedWithoutSecretsAndReadBack) {
  ModelConfig model = parsed_model("type: ollama\n" + kUrl +
                                   "\nmodel: m\ncontext: 7\nkey_command: pass show key\noptions: {top_k: 4}\n"
                                   "price: {as_of: 2026-11-01, input: 1}\n");
  ModelConfig again = parsed_model(model_entry_json(model));
  EXPECT_EQ(again.dialect, ModelDialect::ollama);
  EXPECT_EQ(again.key_command, "pass show key");
  EXPECT_EQ(again.options, R"({"top_k":4})");
  EXPECT_EQ(again.price.input, 1.0);
  model.headers["Authorization"] = "Bearer sk-secret";
  EXPECT_EQ(model_entry_json(model).find("sk-secret"), std::string::npos);
  EXPECT_NE(model_mistake(model_entry_json(model)).find("put it in"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
