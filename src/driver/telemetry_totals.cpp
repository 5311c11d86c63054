#include "driver/telemetry_totals.h"

#include <algorithm>
#include <cmath>

#include "driver/limits.h"
#include "json/slices.h"
#include "json/write.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

Usage sum_of(const std::map<std::string, Usage>& models) {
  Usage total;
  for (const auto& [name, usage] : models) total += usage;
  return total;
}

Usage larger(const Usage& a, const Usage& b) {
  Usage out;
  out.cost_usd = std::max(a.cost_usd, b.cost_usd);
  out.input_tokens = std::max(a.input_tokens, b.input_tokens);
  out.output_tokens = std::max(a.output_tokens, b.output_tokens);
  out.cache_read_tokens = std::max(a.cache_read_tokens, b.cache_read_tokens);
  out.cache_write_tokens = std::max(a.cache_write_tokens, b.cache_write_tokens);
  out.api_calls = std::max(a.api_calls, b.api_calls);
  return out;
}

void add_to(Usage& usage, UsageMember member, double value) {
  auto whole = [&](std::uint64_t& into) { into += static_cast<std::uint64_t>(std::llround(value)); };
  switch (member) {
    case UsageMember::cost:
      usage.cost_usd += value;
      return;
    case UsageMember::input_tokens:
      return whole(usage.input_tokens);
    case UsageMember::output_tokens:
      return whole(usage.output_tokens);
    case UsageMember::cache_read_tokens:
      return whole(usage.cache_read_tokens);
    case UsageMember::cache_write_tokens:
      return whole(usage.cache_write_tokens);
  }
}

// Models without end would make the record grow without end; the entry without a name takes the rest.
Usage& model_in(std::map<std::string, Usage>& models, const std::string& name) {
  bool known = models.contains(name) || models.size() < kMaxTelemetryModels;
  return models[known ? name.substr(0, kMaxAgentIdBytes) : std::string()];
}

bool looks_into_totals(std::string_view key, std::string_view parent) {
  return key == "told" || key == "calls" || key == "sums" || key == "series" || key == "seen" || parent == "calls" ||
         parent == "sums" || parent == "series";
}

Usage usage_of(const JsonSlices& record, const JsonNode& node) {
  Usage usage;
  usage.cost_usd = number_of(record.find(node, "costUSD")).value_or(0);
  auto take = [&](std::uint64_t& into, std::string_view key) { into = count_of(record.find(node, key)).value_or(0); };
  take(usage.input_tokens, "inputTokens");
  take(usage.output_tokens, "outputTokens");
  take(usage.cache_read_tokens, "cacheReadTokens");
  take(usage.cache_write_tokens, "cacheWriteTokens");
  take(usage.api_calls, "apiCalls");
  return usage;
}

void append_models(JsonObject& object, std::string_view key, const std::map<std::string, Usage>& models) {
  std::string& text = object.member(key);
  char before = '{';
  for (const auto& [name, usage] : models) {
    text.push_back(before);
    before = ',';
    append_json_string(text, "m" + name);  // a key has at least one character
    text.push_back(':');
    append_usage(text, usage);
  }
  text.append(before == '{' ? "{}" : "}");
}

}  // namespace

bool TelemetryTotals::add(const TelemetryCall& call) {
  if (std::ranges::find(seen_, call.id) != seen_.end()) return false;
  seen_.push_back(call.id);
  if (seen_.size() > kMaxTelemetryCalls) seen_.pop_front();
  Usage& usage = model_in(calls_, call.model);
  usage += call.usage;
  ++usage.api_calls;
  return true;
}

bool TelemetryTotals::add(const TelemetrySum& sum) {
  if (!std::isfinite(sum.value) || sum.value < 0 || sum.value > kMaxTelemetryValue) return false;
  if (!series_.contains(sum.series) && series_.size() >= kMaxTelemetrySeries) return false;
  Series& known = series_[sum.series];
  double more = sum.value;
  if (known.time != 0 && sum.time <= known.time) return false;
  if (!sum.delta && known.time != 0 && sum.start == known.start) more = sum.value - known.value;
  known = {sum.start, sum.time, sum.value};
  if (more <= 0) return false;
  add_to(model_in(sums_, sum.model), sum.member, more);
  return true;
}

UsageData TelemetryTotals::usage() const {
  UsageData data;
  Usage calls = sum_of(calls_);
  Usage sums = sum_of(sums_);
  data.total = larger(calls, sums);
  data.models = total_tokens(calls) >= total_tokens(sums) ? calls_ : sums_;
  data.models.erase("");
  data.cost_known = data.total.cost_usd > 0;
  return data;
}

std::string TelemetryTotals::encode() const {
  return object_text([&](JsonObject& object) {
    object.number("newestWork", newest_work_ms);
    object.number("turnEnd", turn_end_ms);
    append_usage(object.member("told"), told);
    append_models(object, "calls", calls_);
    append_models(object, "sums", sums_);
    std::string& series = object.member("series");
    char before = '{';
    for (const auto& [name, at] : series_) {
      series.push_back(before);
      before = ',';
      append_json_string(series, name);
      series.push_back(':');
      write_object(series, [&](JsonObject& one) {
        one.number("start", at.start);
        one.number("time", at.time);
        one.number("value", at.value);
      });
    }
    series.append(before == '{' ? "{}" : "}");
    object.texts("seen", std::vector<std::string>(seen_.begin(), seen_.end()));
  });
}

TelemetryTotals TelemetryTotals::decode(std::string_view json) {
  TelemetryTotals totals;
  JsonSlices record;
  if (!record.parse(json, looks_into_totals)) return totals;
  totals.newest_work_ms = static_cast<std::int64_t>(count_of(record.find("newestWork")).value_or(0));
  totals.turn_end_ms = static_cast<std::int64_t>(count_of(record.find("turnEnd")).value_or(0));
  totals.told = usage_of(record, record.find("told"));
  auto models = [&](std::string_view key, std::map<std::string, Usage>& into) {
    const JsonNode& node = record.find(key);
    for (const JsonNode* model = record.first(node); model != nullptr; model = record.after(*model)) {
      into[std::string(model->key.substr(1))] = usage_of(record, *model);
    }
  };
  models("calls", totals.calls_);
  models("sums", totals.sums_);
  const JsonNode& series = record.find("series");
  for (const JsonNode* one = record.first(series); one != nullptr; one = record.after(*one)) {
    totals.series_[std::string(one->key)] = {count_of(record.find(*one, "start")).value_or(0),
                                             count_of(record.find(*one, "time")).value_or(0),
                                             number_of(record.find(*one, "value")).value_or(0)};
  }
  const JsonNode& seen = record.find("seen");
  for (const JsonNode* id = record.first(seen); id != nullptr; id = record.after(*id)) {
    totals.seen_.emplace_back(id->text);
  }
  return totals;
}

}  // namespace shepherd
