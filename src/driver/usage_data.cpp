#include "driver/usage_data.h"

#include "json/write.h"

namespace shepherd {
namespace {

void append_numbers(JsonObject& object, const Usage& usage, bool cost_known) {
  if (cost_known) object.number("costUSD", usage.cost_usd);
  object.number("inputTokens", usage.input_tokens);
  object.number("outputTokens", usage.output_tokens);
  object.number("cacheReadTokens", usage.cache_read_tokens);
  object.number("cacheWriteTokens", usage.cache_write_tokens);
}

}  // namespace

std::string encode_usage_models(const UsageData& usage) {
  std::string models;
  char before = '{';
  for (const auto& [model, part] : usage.models) {
    models.push_back(before);
    before = ',';
    append_json_string(models, model);
    models.push_back(':');
    write_object(models, [&](JsonObject& one) { append_numbers(one, part, usage.cost_known); });
  }
  models.append(before == '{' ? "{}" : "}");
  return models;
}

std::string encode_usage_data(const UsageData& usage, std::string_view more_members) {
  return object_text([&](JsonObject& object) {
    append_numbers(object, usage.total, usage.cost_known);
    if (usage.total.api_calls > 0) object.number("apiCalls", usage.total.api_calls);
    object.number("toolUses", usage.total.tool_uses);
    object.number("turns", usage.total.turns);
    object.json("models", encode_usage_models(usage));
    object.members(more_members);
  });
}

}  // namespace shepherd
