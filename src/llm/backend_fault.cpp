#include "llm/backend_fault.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "llm/limits.h"
#include "llm/utf8_gate.h"
#include "net/text.h"

namespace shepherd {
namespace {

std::string clean_text(std::string_view bytes) {
  std::string out;
  Utf8Gate gate;
  bool cut = bytes.size() > kMaxFaultTextBytes;
  gate.pass(bytes.substr(0, kMaxFaultTextBytes), out);
  if (cut) {
    out += "…";
  } else {
    gate.finish(out);
  }
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return out;
}

int status_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, int>, 15> kTypes{{
      {"overloaded_error", 529},
      {"rate_limit_error", 429},
      {"rate_limit_exceeded", 429},
      {"unavailable_error", 503},
      {"service_unavailable", 503},
      {"authentication_error", 401},
      {"permission_error", 403},
      {"billing_error", 403},
      {"not_found_error", 404},
      {"invalid_request_error", 400},
      {"BadRequestError", 400},
      {"NotFoundError", 404},
      {"exceed_context_size_error", 400},
      {"context_length_exceeded", 400},
      {"timeout_error", 504},
  }};
  for (const auto& [name, status] : kTypes) {
    if (name == type) return status;
  }
  return 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::int64_t> digits_at(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '(')) text.remove_prefix(1);
  std::string digits;
  for (std::size_t at = 0; at < text.size(); ++at) {
    bool groups = text[at] == ',' && at + 1 < text.size() && is_digit(text[at + 1]);  // "131,072 tokens"
    if (groups && !digits.empty()) continue;
    if (!is_digit(text[at])) break;
    digits.push_back(text[at]);
  }
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && value <= kMaxCount ? std::optional(value) : std::nullopt;
}

// FastAPI: {"detail": "…"} or {"detail": [{"loc": ["body", "member"], "msg": "…"}]}
void read_detail(ChunkJson& json, simdjson::dom::element error, BackendFault& fault) {
  auto detail = member_of(error, "detail");
  if (!detail) return;
  fault.message = clean_text(json.text(*detail));
  simdjson::dom::array parts;
  if (detail->get(parts) != simdjson::SUCCESS) return;
  for (simdjson::dom::element part : parts) {
    if (!fault.message.empty()) fault.message += "; ";
    std::string_view place;
    simdjson::dom::array path;
    if (auto loc = member_of(part, "loc"); loc && loc->get(path) == simdjson::SUCCESS) {
      for (simdjson::dom::element step : path) {
        if (step.is_string()) place = step.get_string().value_unsafe();
      }
    }
    if (!place.empty()) fault.message += clean_text(place) + ": ";
    fault.message += clean_text(json.text(part, "msg"));
  }
}

// Code and type may be words, numbers or absent; message may be an array of texts.
void read_members(ChunkJson& json, simdjson::dom::element error, BackendFault& fault) {
  if (error.is_string()) {
    fault.message = clean_text(json.text(error));
    return;
  }
  fault.type = json.text(error, "type");
  fault.code = json.text(error, "code");
  fault.param = json.text(error, "param");
  fault.message = clean_text(json.text(error, "message"));
  if (auto message = member_of(error, "message"); message && message->is_array()) {
    for (simdjson::dom::element part : message->get_array()) {
      if (!fault.message.empty()) fault.message += "; ";
      fault.message += clean_text(json.text(part));
    }
  }
  if (fault.message.empty()) read_detail(json, error, fault);
  // Mistral puts FastAPI's form into the message.
  if (auto message = member_of(error, "message"); message && message->is_object()) read_detail(json, *message, fault);
  auto code = count_in(error, "code");
  if (!code) code = digits_at(fault.code);  // "429"
  if (code && *code >= 400 && *code < 600 && fault.status == 0) fault.status = static_cast<int>(*code);
  fault.prompt_tokens = count_in(error, "n_prompt_tokens");
  fault.context_tokens = count_in(error, "n_ctx");
  if (fault.status == 0) fault.status = status_of(fault.type);
  if (fault.status == 0) fault.status = status_of(fault.code);
}

// The number behind the first of these phrases that the text has with a number.
template <std::size_t N>
std::optional<std::int64_t> number_behind(std::string_view text, const std::array<std::string_view, N>& phrases) {
  for (std::string_view phrase : phrases) {
    std::size_t at = text.find(phrase);
    if (at == std::string_view::npos) continue;
    if (auto number = digits_at(text.substr(at + phrase.size()))) return number;
  }
  return std::nullopt;
}

// Whether the words of a fault mean an overflow; with what they say about sizes.
std::optional<ContextOverflow> overflow_in_words(std::string_view text) {
  auto has = [&](std::string_view phrase) { return text.find(phrase) != std::string_view::npos; };
  bool exceeds = has("exceed") || has("longer than") || has("too long") || has("too large") || has("larger than");
  bool means = has("maximum context length") || has("prompt is too long") || has("exceed context limit") ||
               has("context_length_exceeded") || has("exceeds the available context size") ||
               (has("would need") && has("tokens but limit is")) ||
               (exceeds && (has("context length") || has("context window") || has("context size"))) ||
               (exceeds && (has("max_seq_len") || has("max_num_tokens") || has("max_input_len")));
  if (!means) return std::nullopt;
  constexpr std::array<std::string_view, 11> kPrompt{"prompt contains at least",
                                                     "prompt contains",
                                                     "resulted in",
                                                     "your request has",
                                                     "prompt is too long:",
                                                     "exceed context limit:",
                                                     "would need",
                                                     "request (",
                                                     "prompt length",
                                                     "you requested",
                                                     "input length"};
  constexpr std::array<std::string_view, 9> kContext{"maximum context length is",
                                                     "but limit is",
                                                     "exceeds the available context size",
                                                     "max_seq_len",
                                                     "max_input_len",
                                                     "max_num_tokens",
                                                     "maximum context length of",
                                                     "context length of",
                                                     ">"};
  ContextOverflow found{number_behind(text, kPrompt), number_behind(text, kContext)};
  // "you requested 5000 tokens (4500 in the messages, 500 in the completion)"
  if (std::size_t at = text.find(" in the messages"); at != std::string_view::npos) {
    std::size_t open = text.rfind('(', at);
    if (open != std::string_view::npos) {
      if (auto number = digits_at(text.substr(open + 1))) found.prompt_tokens = number;
    }
  }
  return found;
}

}  // namespace

std::optional<BackendFault> fault_in(ChunkJson& json, simdjson::dom::element chunk, bool named_error) {
  BackendFault fault;
  auto error = member_of(chunk, "error");
  // Some gateways put an empty one into every chunk.
  bool empty = error && ((error->is_string() && json.text(*error).empty()) || (error->is_bool() && !bool(*error)));
  if (error && !empty) {
    read_members(json, *error, fault);
    return fault;
  }
  if (!named_error && json.text(chunk, "object") != "error" && json.text(chunk, "type") != "error") return std::nullopt;
  read_members(json, chunk, fault);
  return fault;
}

BackendFault read_fault(int status, std::string_view body) {
  ChunkJson json;
  BackendFault fault;
  if (auto root = json.parse(body)) {
    if (auto found = fault_in(json, *root, true)) fault = *std::move(found);
  } else {
    fault.message = clean_text(body);
  }
  fault.status = status;
  return fault;
}

std::optional<ContextOverflow> overflow_of(const BackendFault& fault) {
  if (fault.status == 429) return std::nullopt;  // "tokens per minute" are something else
  std::string text = fault.message;
  for (char& c : text) c = net::to_lower(c);
  auto found = overflow_in_words(text);
  bool told = fault.type == "exceed_context_size_error" || fault.code == "context_length_exceeded" ||
              fault.param == "input_tokens";
  if (!told && !found) return std::nullopt;
  ContextOverflow overflow = found.value_or(ContextOverflow{});
  if (fault.prompt_tokens) overflow.prompt_tokens = fault.prompt_tokens;
  if (fault.context_tokens) overflow.context_tokens = fault.context_tokens;
  return overflow;
}

Error error_of(const BackendFault& fault, const std::string& backend) {
  std::string words = fault.message.empty() ? std::string() : ": " + fault.message;
  std::string status = fault.status == 0 ? std::string() : fmt::format(" ({})", fault.status);
  if (auto overflow = overflow_of(fault)) {
    Error error{ErrorCode::invalid_argument,
                "context_full",
                fmt::format("the conversation does not fit into the context of model \"{}\"{}", backend, words),
                {}};
    if (overflow->prompt_tokens) error.fields.push_back({"promptTokens", *overflow->prompt_tokens});
    if (overflow->context_tokens) error.fields.push_back({"contextTokens", *overflow->context_tokens});
    return error;
  }
  switch (fault.status) {
    case 401:
    case 403:
      // Not the backend's words: some repeat part of the key.
      return {
          ErrorCode::permission_denied,
          "model_key",
          fmt::format("model \"{}\" does not accept the key{}; check key_file, key_command or key_env of that model",
                      backend, status),
          {}};
    case 429:
    case 503:
    case 529: {
      Error error{ErrorCode::rate_limited,
                  "model_busy",
                  fmt::format("model \"{}\" is busy{}{}; try again later", backend, status, words),
                  {}};
      if (!fault.retry_after_ms) return error;
      return std::move(error).with("retryAfterSeconds", (*fault.retry_after_ms + 999) / 1'000);
    }
    default:
      break;
  }
  if (fault.status >= 300 && fault.status < 500 && fault.status != 408) {
    return Error{ErrorCode::invalid_argument,
                 "model_refused",
                 fmt::format("model \"{}\" refuses the request{}{}", backend, status, words),
                 {}}
        .with("status", std::int64_t{fault.status});
  }
  return {ErrorCode::unavailable, "model_failed", fmt::format("model \"{}\" failed{}{}", backend, status, words), {}};
}

bool may_pass(const BackendFault& fault) {
  if (fault.type == "insufficient_quota" || fault.code == "insufficient_quota") return false;
  switch (fault.status) {
    case 429:
    case 502:
    case 503:
    case 504:
    case 529:
      return true;
    default:
      return false;
  }
}

bool learn_habit(const BackendFault& fault, RequestHabits& habits) {
  // A template's own words, as "Conversation roles must alternate user/assistant/…"; a status 500 of llama.cpp.
  if (fault.message.find("roles must alternate") != std::string::npos) return !std::exchange(habits.alternating, true);
  if (fault.status != 400 && fault.status != 422) return false;
  auto names = [&](std::string_view member) {
    return fault.param == member || fault.message.find(member) != std::string::npos;
  };
  if (names("max_completion_tokens")) return !std::exchange(habits.newer_limit, true);
  if (names("stream_options")) return !std::exchange(habits.bare_stream, true);
  return false;
}

bool is_parser_fault(const BackendFault& fault) {
  return fault.message.find("Failed to parse input at pos") != std::string::npos;
}

}  // namespace shepherd
