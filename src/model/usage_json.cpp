#include "model/usage_json.h"

#include "model/json_write.h"

namespace shepherd {

void append_usage(std::string& out, const Usage& usage) {
  JsonObject object(out);
  object.number("costUSD", usage.cost_usd);
  object.number("inputTokens", usage.input_tokens);
  object.number("outputTokens", usage.output_tokens);
  object.number("cacheReadTokens", usage.cache_read_tokens);
  object.number("cacheWriteTokens", usage.cache_write_tokens);
  object.number("apiCalls", usage.api_calls);
  object.number("toolUses", usage.tool_uses);
  object.number("turns", usage.turns);
}

}  // namespace shepherd
