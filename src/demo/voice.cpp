#include "demo/voice.h"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "demo/input.h"

namespace scripted {
namespace {

constexpr double kCallCostUSD = 0.004;
constexpr std::int64_t kInputTokens = 3, kCacheWrites = 420, kCacheReads = 8000, kOutputTokens = 20;

std::string random_text(std::size_t length, std::string_view alphabet) {
  std::string bytes(length, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) < 0) std::abort();
  for (char& c : bytes) c = alphabet[static_cast<unsigned char>(c) % alphabet.size()];
  return bytes;
}

std::string timestamp() {
  std::int64_t now = wall_ns();
  std::time_t seconds = now / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> out;
  std::size_t size = strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(out.data() + size, out.size() - size, ".%03dZ", static_cast<int>(now / 1'000'000 % 1000));
  return out.data();
}

json::value or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

}  // namespace

std::string new_uuid() {
  std::string uuid = random_text(36, "0123456789abcdef");
  for (std::size_t dash : {8, 13, 18, 23}) uuid[dash] = '-';
  uuid[14] = '4';
  uuid[19] = '8';
  return uuid;
}

std::string new_id(std::string_view prefix) {
  return std::string(prefix) + "_01" + random_text(22, "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789");
}

Voice::Voice(const Options& options, std::string version)
    : options_(options), version_(version.substr(0, version.find(' '))), began_ns_(monotonic_ns()) {
  session_ = !options.resume_session.empty() ? options.resume_session
             : !options.session_id.empty()   ? options.session_id
                                             : new_uuid();
}

void Voice::init() {
  std::array<char, 4096> cwd{};
  const char* directory = getcwd(cwd.data(), cwd.size());
  line({{"type", "system"},
        {"subtype", "init"},
        {"cwd", directory != nullptr ? directory : "/"},
        {"session_id", session_},
        {"tools", {"Task", "AskUserQuestion", "Bash", "Edit", "Read", "Write", "WebFetch"}},
        {"mcp_servers", json::array{}},
        {"model", options_.model},
        {"permissionMode", options_.permission_mode},
        {"slash_commands", json::array{"compact"}},
        {"apiKeySource", "ANTHROPIC_API_KEY"},
        {"claude_code_version", version_},
        {"output_style", "default"},
        {"agents", json::array{"general-purpose"}},
        {"skills", json::array{}},
        {"plugins", json::array{}},
        {"capabilities", {"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1"}},
        {"uuid", new_uuid()},
        {"fast_mode_state", "off"}});
  began_ns_ = monotonic_ns();
}

void Voice::result(const Ending& ending) {
  end_message(ending.failed ? "tool_use" : "end_turn");
  std::int64_t took_ms = (monotonic_ns() - began_ns_) / 1'000'000;
  json::object out{{"duration_api_ms", took_ms},
                   {"stop_reason", ending.failed ? json::value(nullptr) : json::value("end_turn")},
                   {"session_id", session_},
                   {"total_cost_usd", cost_usd_},
                   {"usage", usage(calls_ - calls_before_)},
                   {"modelUsage", model_usage(calls_, cost_usd_)},
                   {"permission_denials", denials},
                   {"terminal_reason", ending.reason},
                   {"is_error", ending.failed},
                   {"num_turns", calls_ - calls_before_},
                   {"subtype", ending.subtype}};
  if (ending.subtype == "success") {
    out["result"] = ending.failed ? ending.error : last_text_;
  } else {
    out["errors"] = json::array{ending.error};
  }
  out["type"] = "result";
  out["duration_ms"] = took_ms;
  out["uuid"] = new_uuid();
  out["queued_turn_count"] = 0;
  out["result_index"] = results_++;
  out["model_usage_since_last_result"] = model_usage(calls_ - calls_before_, cost_usd_ - cost_before_);
  if (!ending.origin.empty()) out["origin"] = json::object{{"kind", ending.origin}};
  calls_before_ = calls_;
  cost_before_ = cost_usd_;
  denials.clear();
  last_result_ = out;
  line(std::move(out));
}

void Voice::session_state(std::string_view state) {
  system("session_state_changed", {{"state", state}});
}

void Voice::lifecycle(std::string_view message_uuid, std::string_view state) {
  if (message_uuid.empty()) return;
  line({{"type", "command_lifecycle"},
        {"command_uuid", message_uuid},
        {"state", state},
        {"uuid", new_uuid()},
        {"session_id", session_}});
}

void Voice::replay(const json::value& content, std::string_view message_uuid) {
  if (!options_.replay) return;
  line({{"type", "user"},
        {"message", {{"role", "user"}, {"content", content}}},
        {"session_id", session_},
        {"parent_tool_use_id", nullptr},
        {"uuid", message_uuid.empty() ? new_uuid() : std::string(message_uuid)},
        {"timestamp", timestamp()},
        {"isReplay", true}});
}

void Voice::text(std::string_view words) {
  last_text_ = words;
  block(2, {{"type", "text"}, {"text", words}}, "end_turn");
}

void Voice::thinking(std::string_view words) {
  block(1, {{"type", "thinking"}, {"thinking", words}, {"signature", "c2NyaXB0ZWQ="}}, "end_turn");
}

std::string Voice::tool_use(std::string_view tool, const json::object& input) {
  std::string id = new_id("toolu");
  block(3, {{"type", "tool_use"}, {"id", id}, {"name", tool}, {"input", input}}, "tool_use");
  return id;
}

// Writes one line per block. Blocks of one message share its id; a message has reasoning, text and calls, each once.
void Voice::block(int rank, json::object content, std::string_view stop_reason) {
  if (rank <= rank_) end_message(stop_reason);
  json::object usage{{"input_tokens", kInputTokens},
                     {"cache_creation_input_tokens", kCacheWrites},
                     {"cache_read_input_tokens", kCacheReads},
                     {"output_tokens", 1},
                     {"service_tier", "standard"}};
  json::object message{{"id", message_id_},        {"type", "message"},        {"role", "assistant"},
                       {"model", options_.model},  {"content", json::array{}}, {"stop_reason", nullptr},
                       {"stop_sequence", nullptr}, {"usage", std::move(usage)}};
  if (message_id_.empty()) {
    message_id_ = new_id("msg");
    message["id"] = message_id_;
    ++calls_;
    cost_usd_ += kCallCostUSD;
    stream({{"type", "message_start"}, {"message", message}});
  }
  rank_ = rank;
  stream_block(content);
  message["content"] = json::array{std::move(content)};
  line({{"type", "assistant"},
        {"message", std::move(message)},
        {"parent_tool_use_id", or_null(parent)},
        {"session_id", session_},
        {"uuid", new_uuid()},
        {"timestamp", timestamp()},
        {"request_id", new_id("req")}});
  stream({{"type", "content_block_stop"}, {"index", index_++}});
}

void Voice::end_message(std::string_view stop_reason) {
  if (!message_id_.empty()) {
    stream({{"type", "message_delta"},
            {"delta", {{"stop_reason", stop_reason}, {"stop_sequence", nullptr}}},
            {"usage", json::object{{"output_tokens", kOutputTokens}}}});
    stream({{"type", "message_stop"}});
  }
  message_id_.clear();
  rank_ = 0;
  index_ = 0;
}

void Voice::stream(json::object event) {
  if (!options_.partial || !parent.empty()) return;
  line({{"type", "stream_event"},
        {"event", std::move(event)},
        {"session_id", session_},
        {"parent_tool_use_id", nullptr},
        {"uuid", new_uuid()},
        {"api_message_id", message_id_}});
}

// Streams the block like the API: it starts empty and grows.
void Voice::stream_block(const json::object& content) {
  if (!options_.partial || !parent.empty()) return;
  std::string kind = scripted::text(content, "type");
  json::object empty = content;
  if (kind == "tool_use") {
    empty["input"] = json::object{};
    stream({{"type", "content_block_start"}, {"index", index_}, {"content_block", empty}});
    stream({{"type", "content_block_delta"},
            {"index", index_},
            {"delta", {{"type", "input_json_delta"}, {"partial_json", json::serialize(content.at("input"))}}}});
    return;
  }
  std::string key = kind == "text" ? "text" : "thinking";
  empty[key] = "";
  stream({{"type", "content_block_start"}, {"index", index_}, {"content_block", empty}});
  std::string words = scripted::text(content, key);
  std::size_t half = words.size() / 2;
  while (half < words.size() && (static_cast<unsigned char>(words[half]) & 0xC0U) == 0x80U) ++half;
  for (const std::string& piece : {words.substr(0, half), words.substr(half)}) {
    if (piece.empty()) continue;
    stream({{"type", "content_block_delta"}, {"index", index_}, {"delta", {{"type", key + "_delta"}, {key, piece}}}});
  }
}

void Voice::tool_result(std::string_view call, json::value content, bool failed, json::value use_result,
                        json::value meta) {
  end_message("tool_use");
  json::object block{{"tool_use_id", call}, {"type", "tool_result"}, {"content", std::move(content)}};
  block["is_error"] = failed;
  json::object out{{"type", "user"},
                   {"message", {{"role", "user"}, {"content", json::array{std::move(block)}}}},
                   {"parent_tool_use_id", or_null(parent)},
                   {"session_id", session_},
                   {"uuid", new_uuid()},
                   {"timestamp", timestamp()}};
  if (parent.empty()) out["tool_use_result"] = std::move(use_result);
  if (meta.is_object()) {
    meta.as_object()["id"] = call;
    out["tool_result_meta"] = json::array{std::move(meta)};
  }
  line(std::move(out));
}

void Voice::user_text(std::string_view words) {
  line({{"type", "user"},
        {"message", {{"role", "user"}, {"content", json::array{json::object{{"type", "text"}, {"text", words}}}}}},
        {"parent_tool_use_id", or_null(parent)},
        {"session_id", session_},
        {"uuid", new_uuid()},
        {"timestamp", timestamp()}});
}

void Voice::system(std::string_view subtype, json::object members) {
  json::object out{{"type", "system"}, {"subtype", subtype}};
  for (auto& [key, value] : members) out[key] = std::move(value);
  out["uuid"] = new_uuid();
  out["session_id"] = session_;
  line(std::move(out));
}

std::string Voice::ask(std::string_view tool, const json::object& input, std::string_view call) {
  std::string id = new_uuid();
  bool interactive = tool == "AskUserQuestion" || tool == "ExitPlanMode";
  json::object request{{"subtype", "can_use_tool"}, {"tool_name", tool}, {"display_name", tool}, {"input", input}};
  if (interactive) {
    request["requires_user_interaction"] = true;
  } else {
    request["description"] = scripted::text(input, "description", tool);
    json::object rule{{"toolName", tool}};
    if (input.contains("command")) rule["ruleContent"] = input.at("command");
    request["permission_suggestions"] =
        json::array{json::object{{"type", "addRules"},
                                 {"rules", json::array{std::move(rule)}},
                                 {"behavior", "allow"},
                                 {"destination", "localSettings"}},
                    json::object{{"type", "setMode"}, {"mode", "acceptEdits"}, {"destination", "session"}}};
  }
  request["tool_use_id"] = call;
  line({{"type", "control_request"}, {"request_id", id}, {"request", std::move(request)}});
  return id;
}

void Voice::withdraw(std::string_view request_id) {
  line({{"type", "control_cancel_request"}, {"request_id", request_id}});
}

void Voice::respond(std::string_view request_id, json::value response) {
  json::object out{{"subtype", "success"}, {"request_id", request_id}};
  if (!response.is_null()) out["response"] = std::move(response);
  line({{"type", "control_response"}, {"response", std::move(out)}});
}

void Voice::respond_error(std::string_view request_id, std::string_view error, std::string_view code) {
  line({{"type", "control_response"},
        {"response", {{"subtype", "error"}, {"request_id", request_id}, {"error", error}, {"error_code", code}}}});
}

json::object Voice::usage(std::int64_t calls) const {
  return {{"input_tokens", calls * kInputTokens},
          {"cache_creation_input_tokens", calls * kCacheWrites},
          {"cache_read_input_tokens", calls * kCacheReads},
          {"output_tokens", calls * kOutputTokens},
          {"service_tier", "standard"}};
}

json::object Voice::model_usage(std::int64_t calls, double cost) const {
  if (calls == 0) return {};
  return {{options_.model,
           {{"inputTokens", calls * kInputTokens},
            {"outputTokens", calls * kOutputTokens},
            {"cacheReadInputTokens", calls * kCacheReads},
            {"cacheCreationInputTokens", calls * kCacheWrites},
            {"costUSD", cost}}}};
}

void Voice::line(json::object object) {
  if (options_.output == Options::Output::stream) {
    raw(json::serialize(object) + "\n");
  } else if (options_.output == Options::Output::json && options_.verbose) {
    lines_.push_back(std::move(object));
  }
}

void Voice::raw(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void Voice::finish() {
  if (options_.output == Options::Output::text) raw(last_text_ + "\n");
  if (options_.output != Options::Output::json) return;
  raw((options_.verbose ? json::serialize(lines_) : json::serialize(last_result_)) + "\n");
}

}  // namespace scripted
