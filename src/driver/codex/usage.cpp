#include "driver/codex/usage.h"

#include <algorithm>

#include "json/write.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

std::uint64_t count_under(const JsonSlices& record, const JsonNode& tokens, std::string_view camel,
                          std::string_view snake) {
  auto count = count_of(record.find(tokens, camel));
  return count ? *count : count_of(record.find(tokens, snake)).value_or(0);
}

void write_tokens(JsonObject& object, const Usage& usage) {
  object.number("inputTokens", usage.input_tokens);
  object.number("outputTokens", usage.output_tokens);
  object.number("cacheReadTokens", usage.cache_read_tokens);
  object.number("cacheWriteTokens", usage.cache_write_tokens);
}

}  // namespace

void CodexUsage::total(const JsonSlices& record, const JsonNode& tokens) {
  if (tokens.kind != JsonKind::object) return;
  // The agent counts the cached ones among the input; here they are a class of their own.
  std::uint64_t input = count_under(record, tokens, "inputTokens", "input_tokens");
  std::uint64_t read = std::min(input, count_under(record, tokens, "cachedInputTokens", "cached_input_tokens"));
  std::uint64_t written =
      std::min(input - read, count_under(record, tokens, "cacheWriteInputTokens", "cache_write_input_tokens"));
  total_.input_tokens = input - read - written;
  total_.cache_read_tokens = read;
  total_.cache_write_tokens = written;
  total_.output_tokens = count_under(record, tokens, "outputTokens", "output_tokens");
  untold_ = true;
}

std::uint64_t CodexUsage::tokens() const {
  return total_tokens(total_);
}

std::string CodexUsage::tell(std::string_view model, std::string_view extra) {
  untold_ = false;
  std::string out;
  write_object(out, [&](JsonObject& object) {
    write_tokens(object, total_);
    object.number("apiCalls", total_.api_calls);
    object.number("toolUses", total_.tool_uses);
    object.number("turns", total_.turns);
    std::string& models = object.member("models");
    models.push_back('{');
    if (!model.empty()) {
      append_json_string(models, model);
      models.push_back(':');
      write_object(models, [&](JsonObject& part) { write_tokens(part, total_); });
    }
    models.push_back('}');
    if (extra.size() > 2) object.members(extra.substr(1, extra.size() - 2));
  });
  return out;
}

}  // namespace shepherd
