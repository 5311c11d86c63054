#include "driver/claude/usage.h"

#include <algorithm>

#include "driver/limits.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

void take(std::uint64_t& into, const JsonNode& node) {
  if (auto count = count_of(node)) into = *count;
}

void append_tokens(JsonObject& object, const Usage& usage) {
  object.number("inputTokens", usage.input_tokens);
  object.number("outputTokens", usage.output_tokens);
  object.number("cacheReadTokens", usage.cache_read_tokens);
  object.number("cacheWriteTokens", usage.cache_write_tokens);
}

// The API's own names, in messages and in `result.usage`.
Usage api_usage(const JsonSlices& record, const JsonNode& node) {
  Usage usage;
  take(usage.input_tokens, record.find(node, "input_tokens"));
  take(usage.output_tokens, record.find(node, "output_tokens"));
  take(usage.cache_read_tokens, record.find(node, "cache_read_input_tokens"));
  take(usage.cache_write_tokens, record.find(node, "cache_creation_input_tokens"));
  return usage;
}

}  // namespace

void ClaudeUsage::message(std::string_view id, std::string_view model, const JsonSlices& record,
                          const JsonNode& usage) {
  if (id.empty() || model == "<synthetic>" || usage.kind != JsonKind::object) return;
  auto found = open_.find(std::string(id));
  if (found != open_.end()) {
    // Later blocks repeat the numbers of its start; transcripts have the final ones on each.
    Usage& known = found->second.usage;
    std::uint64_t before = known.output_tokens;
    known.output_tokens = std::max(before, api_usage(record, usage).output_tokens);
    untold_ = untold_ || known.output_tokens != before;
    return;
  }
  untold_ = true;
  ++api_calls_;
  open_.emplace(id, Message{std::string(model), api_usage(record, usage)});
  order_.emplace_back(id);
  if (order_.size() > kOpenMessages) forget_oldest();
}

void ClaudeUsage::forget_oldest() {
  auto oldest = open_.find(order_.front());
  older_[oldest->second.model] += oldest->second.usage;
  open_.erase(oldest);
  order_.pop_front();
}

void ClaudeUsage::message_end(std::string_view id, const JsonSlices& record, const JsonNode& usage) {
  auto found = open_.find(std::string(id));
  if (found == open_.end()) return;
  Usage& known = found->second.usage;
  take(known.input_tokens, record.find(usage, "input_tokens"));
  take(known.output_tokens, record.find(usage, "output_tokens"));
  take(known.cache_read_tokens, record.find(usage, "cache_read_input_tokens"));
  take(known.cache_write_tokens, record.find(usage, "cache_creation_input_tokens"));
  untold_ = true;
}

void ClaudeUsage::result(const JsonSlices& record) {
  ++results_;
  totals(record);
}

void ClaudeUsage::totals(const JsonSlices& record) {
  for (std::string_view key : {"total_cost_usd", "totalCostUSD"}) {
    if (auto cost = number_of(record.find(key)); cost && *cost >= 0) cost_usd_ = cost;
  }
  const JsonNode& by_model = record.find("modelUsage");
  if (by_model.kind == JsonKind::object) {
    models_.clear();
    for (const JsonNode* model = record.first(by_model); model != nullptr; model = record.after(*model)) {
      Usage& usage = models_[std::string(model->key)];
      take(usage.input_tokens, record.find(*model, "inputTokens"));
      take(usage.output_tokens, record.find(*model, "outputTokens"));
      take(usage.cache_read_tokens, record.find(*model, "cacheReadInputTokens"));
      take(usage.cache_write_tokens, record.find(*model, "cacheCreationInputTokens"));
      if (auto cost = number_of(record.find(*model, "costUSD")); cost && *cost >= 0) usage.cost_usd = *cost;
    }
  } else {
    models_[""] += api_usage(record, record.find("usage"));
  }
  open_.clear();
  order_.clear();
  older_.clear();
  untold_ = false;
}

// The newest totals and what no result has covered yet.
std::map<std::string, Usage> ClaudeUsage::by_model() const {
  auto models = models_;
  for (const auto& [model, usage] : older_) models[model] += usage;
  for (const auto& [id, message] : open_) models[message.model] += message.usage;
  return models;
}

Usage ClaudeUsage::total() const {
  Usage total;
  for (const auto& [model, usage] : by_model()) total += usage;
  return total;
}

std::string ClaudeUsage::encode(std::string_view extra_members) const {
  auto models = by_model();
  std::string out;
  write_object(out, [&](JsonObject& object) {
    if (cost_usd_) object.number("costUSD", *cost_usd_);
    append_tokens(object, total());
    object.number("apiCalls", api_calls_);
    object.number("toolUses", tool_uses_);
    object.number("turns", results_);
    std::string& text = object.member("models");
    char before = '{';
    for (const auto& [model, usage] : models) {
      if (model.empty()) continue;
      text.push_back(before);
      before = ',';
      append_json_string(text, model);
      text.push_back(':');
      write_object(text, [&](JsonObject& part) {
        if (cost_usd_) part.number("costUSD", usage.cost_usd);
        append_tokens(part, usage);
      });
    }
    text.append(before == '{' ? "{}" : "}");
    out.append(extra_members);
  });
  return out;
}

std::string ClaudeUsage::data(const JsonSlices& record) const {
  std::string extra;
  auto text = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    extra.append(",\"").append(key).append("\":");
    append_json_string(extra, value);
  };
  text("outcome", record.string("subtype"));
  text("terminalReason", record.string("terminal_reason"));
  text("stopReason", record.string("stop_reason"));
  return encode(extra);
}

std::string ClaudeUsage::tell_so_far() {
  untold_ = false;
  return encode(R"(,"partial":true)");
}

std::string ClaudeUsage::data_without_result() const {
  return encode(R"(,"outcome":"no_result")");
}

}  // namespace shepherd
