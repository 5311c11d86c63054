// Feeds bodies of /v1/chat/completions, and any other bytes. What is accepted makes a request of every dialect that is
// JSON; what is refused is the client's fault.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/completions_request.h"
#include "base/assert.h"
#include "json/read.h"
#include "llm/request_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shepherd;
  std::string text(reinterpret_cast<const char*>(data), size);
  auto body = read_completion(text);
  if (!body) {
    SHEPHERD_ASSERT(body.error().code == ErrorCode::invalid_argument, "what cannot be read is refused as such");
    SHEPHERD_ASSERT(!body.error().message.empty(), "and it says why");
    return 0;
  }
  SHEPHERD_ASSERT(!body->model.empty() && !body->request.messages.empty(), "a request has a model and messages");
  ModelConfig config;
  RequestPlan plan{config, body->model};
  for (const std::string& request : {openai_request(plan, body->request), anthropic_request(plan, body->request),
                                     ollama_request(plan, body->request)}) {
    JsonParser parser(request.size());
    auto parsed = parser.parse(request);
    // Depth is bounded, and a dialect wraps what the client sent.
    SHEPHERD_ASSERT((parsed && parsed->is_object()) || parsed.error().reason == "json_too_deep", "a request is JSON");
  }
  return 0;
}
