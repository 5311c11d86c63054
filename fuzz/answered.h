// Properties of every answer of a model, whatever its backend sent and wherever it was cut.
// Threads: value.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/assert.h"
#include "given.h"
#include "json/read.h"
#include "json/text.h"
#include "llm/answer_for_test.h"
#include "llm/limits.h"
#include "llm/request_text.h"

namespace shepherd {

inline void check_said_back(const ModelAnswer& answer) {
  ModelConfig config;
  config.name = "backend";
  config.reasoning_back = true;
  config.options = R"({"thinking":{"type":"enabled"}})";
  ModelRequest request;
  request.messages.emplace_back().content = "Hi";
  ModelMessage& said = request.messages.emplace_back();
  said.role = Role::assistant;
  said.content = answer.text;
  said.reasoning = answer.reasoning;
  said.reasoning_state = answer.reasoning_state;
  said.tool_calls = answer.tool_calls;
  for (const ToolRequest& call : answer.tool_calls) {
    ModelMessage& result = request.messages.emplace_back();
    result.role = Role::tool;
    result.tool_call_id = call.id;
    result.tool_name = call.name;
  }
  RequestPlan plan{config, answer.model, 0, true, RequestUse::answer};
  for (const std::string& body :
       {openai_request(plan, request), anthropic_request(plan, request), ollama_request(plan, request)}) {
    JsonParser parser(body.size());
    SHEPHERD_ASSERT(parser.parse(body).has_value(), "every answer can be sent back");
  }
}

inline void check_answered(ModelDialect dialect, const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  std::vector<std::size_t> sizes;
  for (std::uint8_t cut : input.cuts) sizes.push_back(1 + std::size_t{cut});
  ReadAnswer whole = read_answer(dialect, input.bytes);
  SHEPHERD_ASSERT(answer_text(read_answer(dialect, input.bytes, sizes)) == answer_text(whole), "a cut changes nothing");
  SHEPHERD_ASSERT(is_utf8(answer_text(whole)), "all of it is UTF-8");
  // The same bytes as the body of an error.
  Error error = error_of(read_fault(400 + input.choice, input.bytes), "backend");
  SHEPHERD_ASSERT(!error.reason.empty() && is_utf8(error.message), "an error has words");
  SHEPHERD_ASSERT(error.message.find('\n') == std::string::npos, "in one line");
  if (!whole.answer) return;
  const ModelAnswer& answer = *whole.answer;
  SHEPHERD_ASSERT(answer.text == whole.text && answer.reasoning == whole.reasoning, "all of it was passed on");
  SHEPHERD_ASSERT(answer.text.size() + answer.reasoning.size() <= 3 * kMaxAnswerBytes, "it is bounded");
  SHEPHERD_ASSERT(answer.tool_calls.size() <= kMaxAnswerToolCalls, "so are its calls");
  SHEPHERD_ASSERT(answer.usage.input >= 0 && answer.usage.output >= 0, "counts are counts");
  std::set<std::string> ids;
  for (const ToolRequest& call : answer.tool_calls) {
    SHEPHERD_ASSERT(!call.id.empty() && ids.insert(call.id).second, "every call has an id of its own");
  }
  check_said_back(answer);
}

}  // namespace shepherd
