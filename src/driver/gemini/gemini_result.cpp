#include <algorithm>
#include <array>
#include <utility>

#include "driver/gemini/gemini_stream.h"
#include "driver/gemini/records.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/task.h"
#include "model/usage_json.h"

namespace shepherd {
namespace {

std::uint64_t count_under(const JsonSlices& json, const JsonNode& object, std::string_view key) {
  return count_of(json.find(object, key)).value_or(0);
}

// `input_tokens` has the cached ones among them.
Usage stream_usage(const JsonSlices& json, const JsonNode& stats) {
  Usage usage;
  std::uint64_t all = count_under(json, stats, "input_tokens");
  usage.cache_read_tokens = count_under(json, stats, "cached");
  usage.input_tokens = all - std::min(all, usage.cache_read_tokens);
  usage.output_tokens = count_under(json, stats, "output_tokens");
  return usage;
}

// Of one model in the batch format. Thoughts are output that is not among the candidates.
Usage model_usage(const JsonSlices& json, const JsonNode& model) {
  const JsonNode& tokens = json.find(model, "tokens");
  Usage usage;
  usage.input_tokens = count_under(json, tokens, "input");
  usage.cache_read_tokens = count_under(json, tokens, "cached");
  usage.output_tokens = count_under(json, tokens, "candidates") + count_under(json, tokens, "thoughts");
  usage.api_calls = count_under(json, json.find(model, "api"), "totalRequests");
  return usage;
}

// "[API Error: {"error":{"code":400,"message":"…"}}]" as a person would say it.
struct ApiError {
  std::string text;
  std::optional<std::uint64_t> status;
};

ApiError api_error_of(std::string_view message) {
  ApiError error{std::string(message), {}};
  constexpr std::string_view kBegin = "[API Error: ";
  if (!message.starts_with(kBegin) || !message.ends_with(']')) return error;
  std::string_view inner = message.substr(kBegin.size(), message.size() - kBegin.size() - 1);
  error.text = "API error: " + std::string(inner);
  JsonSlices json;
  if (!json.parse(inner, [](std::string_view, std::string_view) { return true; })) return error;
  const JsonNode& said = json.find("error");
  error.status = count_of(json.find(said, "code"));
  if (std::string_view text = json.string(said, "message"); !text.empty()) {
    error.text = "API error" + (error.status ? " " + std::to_string(*error.status) : "") + ": " + std::string(text);
  }
  return error;
}

// The program's own exit codes. An API's error ends it with the status of HTTP, of which a process can only say the
// lowest eight bits.
std::string exit_code_means(int code) {
  struct Meaning {
    int code;
    std::string_view text;
  };
  constexpr std::array kMeanings{
      Meaning{41, "it is not logged in to an API"},
      Meaning{42, "it was started wrongly"},
      Meaning{52, "its settings are wrong"},
      Meaning{53, "it reached its greatest number of turns"},
      Meaning{55, "it does not trust its work directory"},
      Meaning{130, "it was interrupted"},
  };
  for (const auto& [known, text] : kMeanings) {
    if (known == code) return std::string(text);
  }
  constexpr std::array kStatuses{400, 401, 403, 404, 408, 429, 500, 502, 503, 504};
  for (int status : kStatuses) {
    if (status % 256 == code) return "the model's API answered " + std::to_string(status);
  }
  return {};
}

std::string why_gemini_ended(const ExitFacts& exit, const ErrorOutput& errors, bool mid_turn) {
  std::string meaning = exit.signal == 0 ? exit_code_means(exit.code) : "";
  if (meaning.empty()) return why_it_ended(exit, errors, mid_turn);
  return "the agent " + how_it_ended(exit) + ": " + meaning;
}

}  // namespace

void GeminiStream::result(Actions& out) {
  const JsonSlices& json = events_.json();
  hints_.turn = Hints::Turn::idle;
  ++hints_.turns;
  usage(out);
  if (json.string("status") == "success") {
    ending_ = Ending{true, std::string(event_text(last_text_))};
    return;
  }
  const JsonNode& error = json.find("error");
  failed(json.string(error, "type"), json.string(error, "message"), out);
}

void GeminiStream::failed(std::string_view type, std::string_view message, Actions& out) {
  ApiError error = api_error_of(message);
  if (error.text.empty()) error.text = warning_.empty() ? "the turn ended with an error" : warning_;
  bool of_api = message.starts_with("[API Error");
  std::string_view code = type.empty() || type == "unknown" ? (of_api ? "api_error" : "agent_failed") : type;
  std::string more;
  if (error.status) more = "\"status\":" + std::to_string(*error.status);
  ending_ = Ending{false, std::string(event_text(error.text))};
  if (still_.stopping()) return;  // who made it end says why
  events_.error(out, code, error.text, true, more);
}

void GeminiStream::usage(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& stats = json.find("stats");
  if (stats.kind != JsonKind::object) return;
  UsageData usage;
  usage.total = stream_usage(json, stats);
  usage.total.tool_uses = count_under(json, stats, "tool_calls");
  const JsonNode& models = json.find(stats, "models");
  for (const JsonNode* each = json.first(models); each != nullptr; each = json.after(*each)) {
    usage.models.emplace(each->key, stream_usage(json, *each));
  }
  std::optional<std::int64_t> took;
  if (auto ms = count_of(json.find(stats, "duration_ms"))) took = static_cast<std::int64_t>(*ms);
  tell_usage(usage, took, out);
}

void GeminiStream::tell_usage(UsageData& usage, std::optional<std::int64_t> duration_ms, Actions& out) {
  usage.total.turns = hints_.turns;
  std::string data = encode_usage_data(usage);
  EventParts parts = events_.step(EventType::usage);
  std::string summary = "Turn ended; " + std::to_string(total_tokens(usage.total)) + " tokens";
  parts.summary = summary;
  parts.data = data;
  parts.duration_ms = duration_ms;
  events_.emit(out, parts);
}

// The batch format has the last words and the numbers, and of what was done in between only how often.
void GeminiStream::finish_batch(Actions& out) {
  std::string document = std::exchange(batch_, {});
  if (document.empty()) return;
  while (document.back() == '\n') document.pop_back();
  if (!events_.read(document, events_.now_ms(), gemini_looks_into, out)) return;
  const JsonSlices& json = events_.json();
  events_.set_session(json.string("session_id"));
  hints_.session_id = events_.session();
  hints_.turn = Hints::Turn::idle;
  ++hints_.turns;
  if (std::string_view text = json.string("response"); !text.empty()) {
    last_text_ = text;
    std::string_view kept = event_text(text);
    std::string data = object_text([&](JsonObject& object) { object.text("text", kept); });
    EventParts parts = events_.step(EventType::output);
    std::string summary = one_line(kept, kTextSummaryCharacters);
    parts.summary = summary;
    parts.data = data;
    Detail detail;
    mark_cut(parts, detail, kept, text);
    events_.emit(out, parts, std::move(detail));
  }
  const JsonNode& stats = json.find("stats");
  const JsonNode& models = json.find(stats, "models");
  UsageData usage;
  for (const JsonNode* each = json.first(models); each != nullptr; each = json.after(*each)) {
    Usage part = model_usage(json, *each);
    usage.total += part;
    usage.models.emplace(each->key, part);
  }
  usage.total.tool_uses = count_under(json, json.find(stats, "tools"), "totalCalls");
  if (stats.kind == JsonKind::object) tell_usage(usage, {}, out);
  const JsonNode& error = json.find("error");
  if (error.kind == JsonKind::object) return failed(json.string(error, "type"), json.string(error, "message"), out);
  ending_ = Ending{true, std::string(event_text(last_text_))};
}

Verdict GeminiStream::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  end_text(out);
  events_.without_record(now_ms);
  errors_.finish(events_.session(), out);
  finish_batch(out);
  events_.without_record(now_ms);
  Verdict judged = verdict(exit);
  bool mid_turn = begun_ && !ending_;
  hints_.turn = Hints::Turn::idle;
  if (judged.state == State::cancelled && mid_turn) events_.status(out, "Interrupted", "interrupted");
  bool told = ending_ && !ending_->good;
  if (judged.state == State::failed && !told && !exit.by_runner && !still_.stopping()) {
    events_.error(out, "agent_failed", judged.message, true);
  }
  return judged;
}

// A run that was interrupted exits with 0, like a good one; only a good one says that it has ended.
Verdict GeminiStream::verdict(const ExitFacts& exit) const {
  constexpr int kInterrupted = 130;
  Verdict verdict;
  bool quiet_end = exit.signal == 0 && (exit.code == 0 || exit.code == kInterrupted);
  if (ending_ && (!ending_->good || exit.good())) {
    verdict.state = ending_->good ? State::completed : State::failed;
    verdict.message = ending_->text;
  } else if (!ending_ && begun_ && quiet_end) {
    verdict.state = State::cancelled;
    verdict.message = "interrupted";
  } else {
    verdict.state = State::failed;
    verdict.message = why_gemini_ended(exit, errors_, begun_ && !ending_);
  }
  return verdict;
}

}  // namespace shepherd
