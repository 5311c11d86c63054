#include "api/completions_json.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

CompletionShape a_shape(bool usage = false) {
  return {"chatcmpl-1", "local", 1'790'000'000, usage};
}

CompletionEnd an_end() {
  CompletionEnd end;
  end.text = "Hi \"you\"";
  end.usage = {true, 10, 2, 4, 0, 1};
  end.cost = 0.5;
  return end;
}

constexpr std::string_view kHead =
    R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"local",)";

std::string chunk_of(std::string_view rest) {
  return std::string(kHead) + std::string(rest) + "}\n\n";
}
std::string choice_of(std::string_view delta, std::string_view finish) {
  return chunk_of(R"("choices":[{"index":0,"delta":)" + std::string(delta) + R"(,"logprobs":null,"finish_reason":)" +
                  std::string(finish) + "}]");
}

TEST(CompletionJson, WritesChunks) {
  CompletionChunks chunks(a_shape());
  std::string out;
  chunks.role(out);
  EXPECT_EQ(out, choice_of(R"({"role":"assistant","content":""})", "null"));
  out.clear();
  chunks.text(out, "a\nb");
  EXPECT_EQ(out, choice_of(R"({"content":"a\nb"})", "null"));
  out.clear();
  chunks.reasoning(out, "hm");
  EXPECT_EQ(out, choice_of(R"({"reasoning_content":"hm"})", "null"));
}

TEST(CompletionJson, EndsAStream) {
  std::string out;
  CompletionChunks(a_shape()).end(out, an_end());
  EXPECT_EQ(out, choice_of("{}", R"("stop")") + "data: [DONE]\n\n") << "usage only if asked for";
  out.clear();
  CompletionChunks(a_shape(true)).end(out, an_end());
  EXPECT_EQ(
      out,
      choice_of("{}", R"("stop")") +
          chunk_of(
              R"("choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,)"
              R"("prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1},"cost":0.5})") +
          "data: [DONE]\n\n");
  out.clear();
  CompletionEnd unknown = an_end();
  unknown.usage.known = false;
  CompletionChunks(a_shape(true)).end(out, unknown);
  EXPECT_EQ(out, choice_of("{}", R"("stop")") + "data: [DONE]\n\n") << "never a guess";
}

TEST(CompletionJson, WritesToolCallsWithTheirIndex) {
  CompletionEnd end;
  end.tool_calls = {{"c1", "f", "{}"}, {"c2", "g", R"({"a":1})"}};
  end.finish = Finish::tool_calls;
  std::string out;
  CompletionChunks(a_shape()).end(out, end);
  EXPECT_EQ(
      out,
      choice_of(R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},)"
                R"({"index":1,"id":"c2","type":"function","function":{"name":"g","arguments":"{\"a\":1}"}}]})",
                "null") +
          choice_of("{}", R"("tool_calls")") + "data: [DONE]\n\n");
  EXPECT_NE(completion_json(a_shape(), end).find(R"("content":null,"refusal":null,"tool_calls":[{"id":"c1",)"),
            std::string::npos);
}

TEST(CompletionJson, WritesWholeAnswers) {
  EXPECT_EQ(
      completion_json(a_shape(), an_end()),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"local","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":"Hi \"you\"","refusal":null},"logprobs":null,"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4},)"
      R"("completion_tokens_details":{"reasoning_tokens":1},"cost":0.5}})");
}

TEST(CompletionJson, WritesModels) {
  CompletionModel model{"local", {}};
  EXPECT_EQ(
      completion_models_json({model}, 7),
      R"({"object":"list","data":[{"id":"local","object":"model","created":7,"owned_by":"shepherd","name":"local"}]})");
  model.facts.context_tokens = 8192;
  EXPECT_NE(completion_model_json(model, 7).find(R"("context_length":8192,"max_model_len":8192)"), std::string::npos);
}

TEST(CompletionJson, WritesErrorsInTheirForm) {
  Error wrong = Error{ErrorCode::invalid_argument, "bad_member", "no", {}}.with("member", std::string("messages"));
  EXPECT_EQ(completion_status(wrong), 400);
  EXPECT_EQ(completion_error_json(wrong, 400),
            R"({"error":{"message":"no","type":"invalid_request_error","param":"messages","code":"bad_member"}})");
  Error full{ErrorCode::invalid_argument, "context_full", "too long", {}};
  EXPECT_EQ(
      completion_error_json(full, 400),
      R"({"error":{"message":"too long","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}})");
  std::string out;
  CompletionChunks(a_shape()).error(out, full);
  EXPECT_EQ(out, "data: " + completion_error_json(full, 400) + "\n\n");
}

TEST(CompletionJson, TellsTheClientsFaultsFromTheBackends) {
  auto status = [](ErrorCode code, std::string reason) { return completion_status({code, std::move(reason), "", {}}); };
  EXPECT_EQ(status(ErrorCode::permission_denied, "model_key"), 502) << "the server's key, not the client's";
  EXPECT_EQ(status(ErrorCode::unavailable, "model_failed"), 502);
  EXPECT_EQ(status(ErrorCode::unavailable, "model_broke_off"), 502);
  EXPECT_EQ(status(ErrorCode::too_large, "answer_too_long"), 502);
  EXPECT_EQ(status(ErrorCode::unavailable, "model_unreachable"), 503);
  EXPECT_EQ(status(ErrorCode::rate_limited, "model_busy"), 429);
  EXPECT_EQ(status(ErrorCode::invalid_argument, "model_refused"), 400);
  EXPECT_EQ(completion_status(Error{ErrorCode::invalid_argument, "model_refused", "", {}}.with("status", 404)), 404);
  net::Response busy =
      completion_problem(Error{ErrorCode::rate_limited, "model_busy", "", {}}.with("retryAfterSeconds", 7), 429);
  EXPECT_EQ(busy.content_type, "application/json");
  bool told = false;
  for (const auto& [name, value] : busy.headers) told = told || (name == "Retry-After" && value == "7");
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace shepherd
