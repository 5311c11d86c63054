#include "driver/opencode/parts.h"

#include <array>
#include <cstdio>

#include "driver/call_summary.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/usage_json.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

constexpr std::array kOpenCodePhrases{
    CallPhrase{"read", "Reading ", "filePath"},
    CallPhrase{"write", "Writing ", "filePath"},
    CallPhrase{"edit", "Editing ", "filePath"},
    CallPhrase{"multiedit", "Editing ", "filePath"},
    CallPhrase{"patch", "Changing files"},
    CallPhrase{"apply_patch", "Changing files"},
    CallPhrase{"bash", "Running ", "command"},
    CallPhrase{"glob", "Looking for ", "pattern"},
    CallPhrase{"grep", "Searching for ", "pattern"},
    CallPhrase{"list", "Listing ", "path"},
    CallPhrase{"webfetch", "Fetching ", "url"},
    CallPhrase{"websearch", "Searching the web for ", "query"},
    CallPhrase{"codesearch", "Searching code for ", "query"},
    CallPhrase{"task", "Delegating: ", "description"},
    CallPhrase{"skill", "Using skill ", "name"},
    CallPhrase{"todowrite", "Updating its to-do list"},
    CallPhrase{"todoread", "Reading its to-do list"},
    CallPhrase{"question", "Asking a question"},
};

std::optional<std::int64_t> time_of(const JsonSlices& json, const JsonNode& part, std::string_view key) {
  auto time = count_of(json.find(json.find(part, "time"), key));
  return time ? std::optional(static_cast<std::int64_t>(*time)) : std::nullopt;
}

}  // namespace

// A file's lines, a sub-agent's last words.
std::string opencode_shown_text(std::string_view text) {
  auto inside = [&](std::string_view open, std::string_view close) {
    std::size_t begin = text.find(open), end = text.rfind(close);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + open.size()) return;
    text = text.substr(begin + open.size(), end - begin - open.size());
  };
  if (text.starts_with("<path>")) {
    inside("<content>", "</content>");
    inside("<entries>", "</entries>");
  }
  if (text.starts_with("<task ")) inside("<task_result>", "</task_result>");
  std::string shown(text);
  for (std::string_view tag : {"<shell_metadata>", "</shell_metadata>", "<bash_metadata>", "</bash_metadata>"}) {
    for (std::size_t at = shown.find(tag); at != std::string::npos; at = shown.find(tag)) shown.erase(at, tag.size());
  }
  return shown;
}

std::string opencode_ask_summary(std::string_view permission, std::string_view input, std::string_view patterns) {
  constexpr std::array kAsks{
      CallPhrase{"bash", "Running ", "command"},
      CallPhrase{"edit", "Editing ", "filepath"},
      CallPhrase{"webfetch", "Fetching ", "url"},
      CallPhrase{"websearch", "Searching the web for ", "query"},
      CallPhrase{"task", "Delegating: ", "description"},
      CallPhrase{"external_directory", "Leaving the work directory for ", "filepath"},
  };
  std::string summary = call_summary(kAsks, permission, input, "");
  if (!patterns.empty() && summary == "Using " + std::string(permission)) summary += ": " + std::string(patterns);
  return visible_text(summary);
}

bool opencode_looks_into(std::string_view key, std::string_view /*parent*/) {
  for (std::string_view known : {"part", "state", "time", "tokens", "cache", "error", "data", "properties", "info",
                                 "status", "tool", "metadata", "answer", "event", "body", "always", "patterns"}) {
    if (key == known) return true;
  }
  return false;
}

bool opencode_was_denied(std::string_view error) {
  return error.starts_with("The user rejected permission") ||
         error.starts_with("Model tried to call unavailable tool") ||
         error.find("specified a rule which prevents") != std::string_view::npos;
}

// {"name":"APIError","data":{"message":"…","statusCode":400}}
OpenCodeError opencode_error(const JsonSlices& json, const JsonNode& error) {
  OpenCodeError told;
  std::string_view name = json.string(error, "name");
  const JsonNode& data = json.find(error, "data");
  told.message = json.string(data, "message");
  if (told.message.empty()) told.message = json.string(error, "message");
  if (told.message.empty()) told.message = name.empty() ? "an error that the agent does not explain" : name;
  told.code = name == "APIError" ? "api_error" : name.empty() ? "agent_failed" : std::string(name);
  told.aborted = name == "MessageAbortedError";
  if (auto status = count_of(json.find(data, "statusCode"))) told.members = "\"status\":" + std::to_string(*status);
  return told;
}

std::string opencode_call_summary(std::string_view tool, std::string_view input, std::string_view cwd) {
  return call_summary(kOpenCodePhrases, tool, input, cwd);
}

void OpenCodeTools::part(RecordEvents& events, const JsonNode& part, std::string_view parent, std::string_view cwd,
                         Actions& out) {
  const JsonSlices& json = events.json();
  std::string_view id = json.string(part, "callID");
  const JsonNode& state = json.find(part, "state");
  std::string_view status = json.string(state, "status");
  bool ended = status == "completed" || status == "error";
  if (status == "pending") return;  // its input is not known yet
  if (id.empty() || id.size() > kMaxAgentIdBytes || ended_.find(id) != nullptr) return;
  if (open_.find(id) == nullptr) {
    ++count_;
    if (auto start = time_of(json, state, "start")) events.set_time(*start);
    std::string_view tool = json.string(part, "tool");
    std::string_view input = json.find(state, "input").slice;
    events.tool_call(out, open_, id, tool, input, opencode_call_summary(tool, input, cwd), parent);
  }
  if (ended) result(events, part, state, out);
}

void OpenCodeTools::result(RecordEvents& events, const JsonNode& part, const JsonNode& state, Actions& out) {
  const JsonSlices& json = events.json();
  std::string_view id = json.string(part, "callID");
  auto start = time_of(json, state, "start"), end = time_of(json, state, "end");
  if (end) events.set_time(*end);
  ToolResult told{id, Outcome::success, json.string(state, "output")};
  std::string data;
  if (json.string(state, "status") == "error") {
    told.text = json.string(state, "error");
    const OpenCall* call = open_.find(id);
    bool denied = opencode_was_denied(told.text) || (call != nullptr && call->denied);
    told.outcome = denied ? Outcome::denied : Outcome::failed;
  } else if (const JsonNode& exit = json.find(json.find(state, "metadata"), "exit"); !exit.slice.empty()) {
    auto code = number_of(exit);  // null: it did not end by itself
    if (!code || *code != 0) told.outcome = Outcome::failed;
    if (code) data = object_text([&](JsonObject& object) { object.json("exitCode", exit.slice); });
  }
  std::string shown = opencode_shown_text(told.text);
  told.shown = shown;
  told.data = data;
  // What a person took to decide is not the tool's time.
  const OpenCall* call = open_.find(id);
  bool waited = call != nullptr && start && call->started_ms > *start;
  if (start && end && *end >= *start && !waited) told.duration_ms = *end - *start;
  events.tool_result(out, open_, told);
  ended_.open(id, {});
}

void OpenCodeUsage::step(const JsonSlices& json, const JsonNode& part, std::string_view model) {
  const JsonNode& tokens = json.find(part, "tokens");
  const JsonNode& cache = json.find(tokens, "cache");
  auto count = [&](const JsonNode& object, std::string_view key) {
    return count_of(json.find(object, key)).value_or(0);
  };
  Usage step;
  step.input_tokens = count(tokens, "input");
  step.output_tokens = count(tokens, "output") + count(tokens, "reasoning");
  step.cache_read_tokens = count(cache, "read");
  step.cache_write_tokens = count(cache, "write");
  // Zero is what it says of models whose price it does not know.
  if (auto cost = number_of(json.find(part, "cost")); cost && *cost > 0) {
    step.cost_usd = *cost;
    usage_.cost_known = true;
  } else {
    unpriced_ = unpriced_ || total_tokens(step) > 0;
  }
  step.api_calls = 1;
  usage_.total += step;
  if (!model.empty()) usage_.models[std::string(model)] += step;
  untold_ = true;
}

void OpenCodeUsage::tell(RecordEvents& events, std::uint64_t turns, std::uint64_t tool_uses, std::string_view summary,
                         std::string_view more_members, Actions& out) {
  untold_ = false;
  usage_.total.turns = turns;
  usage_.total.tool_uses = tool_uses;
  std::string members(more_members);
  if (usage_.cost_known && unpriced_) members.append(members.empty() ? "" : ",").append("\"unpriced\":true");
  std::string data = encode_usage_data(usage_, members);
  EventParts parts = events.step(EventType::usage);
  parts.summary = summary;
  parts.data = data;
  events.emit(out, parts);
}

std::string OpenCodeUsage::shown_cost() const {
  constexpr double kLeastShownUsd = 0.00005;
  if (usage_.total.cost_usd < kLeastShownUsd) return {};
  char number[32];
  std::snprintf(number, sizeof number, "; $%.4f so far", usage_.total.cost_usd);
  return number;
}

}  // namespace shepherd
