#include "driver/acp/usage.h"

#include "driver/acp/limits.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

// The protocol's names, and those that agents use in their own additions.
Usage tokens_of(const JsonSlices& record, const JsonNode& node) {
  Usage usage;
  auto take = [&](std::uint64_t& into, std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) {
      if (auto count = count_of(record.find(node, name))) {
        into = *count;
        return;
      }
    }
  };
  take(usage.input_tokens, {"inputTokens", "input_tokens"});
  take(usage.output_tokens, {"outputTokens", "output_tokens"});
  take(usage.cache_read_tokens, {"cachedReadTokens", "cachedInputTokens", "cached_tokens"});
  take(usage.cache_write_tokens, {"cachedWriteTokens"});
  return usage;
}

void write_tokens(JsonObject& object, const Usage& usage) {
  object.number("inputTokens", usage.input_tokens);
  object.number("outputTokens", usage.output_tokens);
  object.number("cacheReadTokens", usage.cache_read_tokens);
  object.number("cacheWriteTokens", usage.cache_write_tokens);
}

}  // namespace

void AcpUsage::update(const JsonSlices& record, const JsonNode& update) {
  if (auto used = count_of(record.find(update, "used"))) {
    untold_ = untold_ || *used != context_used_;
    context_used_ = *used;
  }
  if (auto size = count_of(record.find(update, "size"))) context_size_ = *size;
  const JsonNode& cost = record.find(update, "cost");
  auto amount = number_of(record.find(cost, "amount"));
  // Zero is what agents say of models whose price they do not know.
  if (!amount || *amount <= 0 || record.string(cost, "currency") != "USD") return;
  untold_ = untold_ || cost_usd_ != amount;
  cost_usd_ = amount;
}

void AcpUsage::turn_ended(const JsonSlices& record, const JsonNode& result, std::string_view current_model) {
  ++total_.turns;
  const JsonNode& quota = record.find(record.find(result, "_meta"), "quota");
  const JsonNode& usage = record.find(result, "usage");
  bool standard = usage.kind == JsonKind::object;
  Usage used = tokens_of(record, standard ? usage : record.find(quota, "token_count"));
  total_ += used;
  const JsonNode& by_model = record.find(quota, "model_usage");
  if (record.first(by_model) == nullptr && !current_model.empty() && total_tokens(used) > 0) {
    models_[std::string(current_model)] += used;
  }
  for (const JsonNode* each = record.first(by_model); each != nullptr; each = record.after(*each)) {
    std::string_view model = record.string(*each, "model").substr(0, kMaxAgentIdBytes);
    if (model.empty() || (models_.size() >= kMaxAcpModels && models_.find(model) == models_.end())) continue;
    models_[std::string(model)] += tokens_of(record, record.find(*each, "token_count"));
  }
}

std::string AcpUsage::tell(bool partial, std::string_view outcome) {
  untold_ = false;
  return object_text([&](JsonObject& object) {
    if (cost_usd_) object.number("costUSD", *cost_usd_);
    write_tokens(object, total_);
    object.number("toolUses", total_.tool_uses);
    object.number("turns", total_.turns);
    if (context_used_ > 0) object.number("contextTokens", context_used_);
    if (context_size_ > 0) object.number("contextSize", context_size_);
    if (!models_.empty()) {
      object.object("models", [&](JsonObject& models) {
        for (const auto& [model, used] : models_) {
          std::string key;
          append_json_string(key, model);
          models.object(std::string_view(key).substr(1, key.size() - 2),
                        [&](JsonObject& part) { write_tokens(part, used); });
        }
      });
    }
    if (partial) object.flag("partial", true);
    object.text_unless_empty("outcome", outcome.substr(0, kMaxAgentIdBytes));
  });
}

}  // namespace shepherd
