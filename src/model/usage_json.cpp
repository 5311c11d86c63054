#include "model/usage_json.h"

#include "json/scan.h"
#include "json/write.h"

namespace shepherd {

void append_usage(std::string& out, const Usage& usage) {
  write_object(out, [&](JsonObject& object) {
    object.number("costUSD", usage.cost_usd);
    object.number("inputTokens", usage.input_tokens);
    object.number("outputTokens", usage.output_tokens);
    object.number("cacheReadTokens", usage.cache_read_tokens);
    object.number("cacheWriteTokens", usage.cache_write_tokens);
    object.number("apiCalls", usage.api_calls);
    object.number("toolUses", usage.tool_uses);
    object.number("turns", usage.turns);
    if (usage.unpriced) object.flag("unpriced", true);
  });
}

std::uint64_t total_tokens(const Usage& usage) {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
}

std::uint64_t total_tokens(std::string_view usage_json) {
  std::uint64_t total = 0;
  for (std::string_view name : {"inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"}) {
    total += count_value(find_member(usage_json, name)).value_or(0);
  }
  return total;
}

}  // namespace shepherd
