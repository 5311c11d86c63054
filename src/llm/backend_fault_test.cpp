#include "llm/backend_fault.h"

#include <gtest/gtest.h>

#include "llm/answer_for_test.h"
#include "llm/limits.h"

namespace shepherd {
namespace {

Error fault_error(int status, std::string_view body) {
  return error_of(read_fault(status, body), "b");
}

TEST(BackendFault, NamesEveryStatus) {
  struct Case {
    int status;
    const char* reason;
    ErrorCode code;
  };
  const Case cases[] = {
      {301, "model_refused", ErrorCode::invalid_argument}, {400, "model_refused", ErrorCode::invalid_argument},
      {401, "model_key", ErrorCode::permission_denied},    {403, "model_key", ErrorCode::permission_denied},
      {404, "model_refused", ErrorCode::invalid_argument}, {408, "model_failed", ErrorCode::unavailable},
      {422, "model_refused", ErrorCode::invalid_argument}, {429, "model_busy", ErrorCode::rate_limited},
      {500, "model_failed", ErrorCode::unavailable},       {501, "model_failed", ErrorCode::unavailable},
      {503, "model_busy", ErrorCode::rate_limited},        {529, "model_busy", ErrorCode::rate_limited},
      {204, "model_failed", ErrorCode::unavailable},
  };
  for (const Case& each : cases) {
    Error error = fault_error(each.status, R"({"error":{"message":"words"}})");
    EXPECT_EQ(error.reason, each.reason) << each.status;
    EXPECT_EQ(error.code, each.code) << each.status;
    EXPECT_NE(error.message.find(std::to_string(each.status)), std::string::npos);
    bool key = std::string_view(each.reason) == "model_key";
    EXPECT_EQ(error.message.find("words") == std::string::npos, key) << "words about a key can have part of it";
  }
}

TEST(BackendFault, ReadsBodiesOfEveryForm) {
  for (const char* body :
       {R"({"error":{"message":"the words","type":"t","param":null,"code":7}})", R"({"error":"the words"})",
        R"({"object":"error","message":"the words","type":"BadRequestError"})", R"({"message":"the words"})",
        "the words", R"({"type":"error","error":{"type":"invalid_request_error","message":"the words"}})",
        R"({"error":{"message":["the words"]}})"}) {
    EXPECT_EQ(fault_error(400, body).message, "model \"b\" refuses the request (400): the words") << body;
  }
  EXPECT_EQ(fault_error(500, "").message, "model \"b\" failed (500)");
  EXPECT_EQ(fault_error(500, "[1]").message, "model \"b\" failed (500)");
}

TEST(BackendFault, TheWordsAreOneBoundedLine) {
  std::string message = fault_error(500, "one\ntwo\x01\xFF" + std::string(kMaxFaultTextBytes, 'x')).message;
  EXPECT_NE(message.find("one two \uFFFDxxx"), std::string::npos);
  EXPECT_TRUE(message.ends_with("…"));
  EXPECT_LT(message.size(), kMaxFaultTextBytes + 100);
}

TEST(BackendFault, RecognisesAConversationThatIsTooLong) {
  struct Case {
    const char* body;
    std::int64_t prompt, context;  // 0: not said
  };
  const Case cases[] = {
      {R"({"error":{"code":400,"message":"request (600 tokens) exceeds the available context size (512 tokens), try increasing it",)"
       R"("type":"exceed_context_size_error","n_prompt_tokens":600,"n_ctx":512}})",
       600, 512},
      {R"({"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 500 output tokens and your prompt contains at least 4000 input tokens, for a total of at least 4500 tokens.","param":"input_tokens"}})",
       4000, 4096},
      {R"({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 100 input tokens"}})",
       100, 4096},
      {R"({"error":{"message":"This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion)."}})",
       4500, 4097},
      {R"({"error":{"message":"This model's maximum context length is 131,072 tokens. However, your messages resulted in 140,001 tokens.","code":"context_length_exceeded"}})",
       140001, 131072},
      {R"({"error":{"message":"x","code":"context_length_exceeded"}})", 0, 0},
      {R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}})",
       210000, 200000},
      {R"({"error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease it"}})",
       190000, 200000},
      {R"({"error":"the input length exceeds the context length"})", 0, 0},
      {R"({"error":"the prompt is longer than the context length"})", 0, 0},
      {R"x({"object":"error","message":"The sum of prompt length (700) and query length exceeds max_num_tokens (512)"})x",
       700, 512},
      {R"({"error":{"message":"The prompt would need 600 tokens but limit is 512"}})", 600, 512},
  };
  for (const Case& each : cases) {
    Error error = fault_error(400, each.body);
    EXPECT_EQ(error.reason, "context_full") << each.body;
    std::string text = error_text(error);
    std::string wanted = (each.prompt > 0 ? "promptTokens: " + std::to_string(each.prompt) + "\n" : "") +
                         (each.context > 0 ? "contextTokens: " + std::to_string(each.context) + "\n" : "");
    EXPECT_TRUE(text.ends_with("\n" + wanted) || wanted.empty()) << text << wanted;
    EXPECT_EQ(text.find("Tokens: ") != std::string::npos, !wanted.empty()) << text;
  }
}

TEST(BackendFault, TakesNothingElseForTooLong) {
  EXPECT_EQ(
      fault_error(429, R"({"error":{"message":"Request too large: exceeds the context window of tokens per minute"}})")
          .reason,
      "model_busy");
  EXPECT_EQ(fault_error(400, R"({"error":{"message":"max_tokens must be at least 1"}})").reason, "model_refused");
  EXPECT_EQ(fault_error(500, R"({"error":{"message":"context lost"}})").reason, "model_failed");
}

TEST(BackendFault, OnlyWhatMayPassIsTriedAgain) {
  for (int status : {429, 502, 503, 504, 529}) EXPECT_TRUE(may_pass(read_fault(status, "x"))) << status;
  for (int status : {400, 401, 404, 408, 500, 501}) EXPECT_FALSE(may_pass(read_fault(status, "x"))) << status;
  EXPECT_FALSE(may_pass(read_fault(429, R"({"error":{"type":"insufficient_quota","message":"pay"}})")));
  EXPECT_FALSE(may_pass(read_fault(429, R"({"error":{"code":"insufficient_quota","message":"pay"}})")));
  EXPECT_TRUE(is_parser_fault(read_fault(500, R"({"error":{"message":"Failed to parse input at pos 12: x"}})")));
  EXPECT_FALSE(is_parser_fault(read_fault(500, "x")));
}

TEST(BackendFault, SaysHowLongToWait) {
  BackendFault fault = read_fault(429, "");
  fault.retry_after_ms = 1'001;
  EXPECT_NE(error_text(error_of(fault, "b")).find("retryAfterSeconds: 2\n"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
