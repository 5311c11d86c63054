#include "chat/chat_events.h"

#include <algorithm>

#include "chat/limits.h"
#include "json/read.h"
#include "json/scan.h"
#include "json/text.h"
#include "json/write.h"
#include "model/condense.h"

namespace shepherd {
namespace {

constexpr std::size_t kLineCharacters = 160;  // of a summary

std::string first_line(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t\r\n");
  text = begin == std::string_view::npos ? std::string_view() : text.substr(begin);
  return truncated(text.substr(0, text.find_first_of("\r\n")), kLineCharacters);
}

// The beginning of a text that has at most `most` bytes in JSON, not cut inside a character.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most / 6) return text;
  std::size_t at = 0, bytes = 0;
  for (; at < text.size(); ++at) {
    auto c = static_cast<unsigned char>(text[at]);
    bytes += c < ' ' ? (c == '\n' || c == '\t' || c == '\r' ? 2 : 6) : c == '"' || c == '\\' ? 2 : 1;
    if (bytes > most) break;
  }
  if (at == text.size()) return text;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return text.substr(0, at);
}

template <class Fill>
ChatEvent make_event(EventType type, std::string_view summary, Fill&& fill) {
  ChatEvent event;
  event.type = type;
  event.json = object_text([&](JsonObject& object) {
    object.text("type", name(type));
    object.text("summary", summary);
    fill(object);
  });
  return event;
}

std::string message_summary(const ModelMessage& message) {
  std::string line = first_line(message.content);
  if (message.role == Role::assistant && line.empty() && !message.tool_calls.empty()) {
    return "assistant: asks for " + message.tool_calls.front().name;
  }
  if (message.role == Role::tool) return message.tool_name + ": " + line;
  return std::string(name(message.role)) + ": " + line;
}

// `share`: the most bytes of each call's arguments.
void write_calls(JsonObject& object, const std::vector<ToolRequest>& calls, std::size_t share) {
  if (calls.empty()) return;
  std::string& out = object.member("toolCalls");
  out.push_back('[');
  for (const ToolRequest& call : calls) {
    if (out.back() != '[') out.push_back(',');
    write_object(out, [&](JsonObject& each) {
      each.text("id", call.id);
      each.text("name", call.name);
      each.text("arguments", beginning(call.arguments, share));
    });
  }
  out.push_back(']');
}

bool fits(std::string_view text, std::size_t most) {
  return beginning(text, most).size() == text.size();
}

std::size_t share_of(const ModelMessage& message) {
  return kInlineArgumentBytes / std::max<std::size_t>(message.tool_calls.size(), 1);
}

bool is_cut(const ModelMessage& message) {
  return !fits(message.content, kInlineMessageBytes) ||
         std::ranges::any_of(message.tool_calls,
                             [&](const ToolRequest& call) { return !fits(call.arguments, share_of(message)); });
}

void write_message(JsonObject& data, const ModelMessage& message, const MessageFacts& facts) {
  data.text("role", name(message.role));
  data.text("content", beginning(message.content, kInlineMessageBytes));
  if (is_cut(message)) data.flag("contentCut", true);
  data.number("tokens", facts.tokens);
  data.flag("tokensExact", facts.exact);
  write_calls(data, message.tool_calls, share_of(message));
  data.text_unless_empty("toolCallID", message.tool_call_id);
  data.text_unless_empty("toolName", message.tool_name);
  if (message.failed) data.flag("failed", true);
  if (message.image_count > 0) data.number("images", message.image_count);
  data.text_unless_empty("reasoning", beginning(message.reasoning, kInlineReasoningBytes));
  // Half of it is worth nothing.
  if (beginning(message.reasoning_state, kInlineReasoningBytes).size() == message.reasoning_state.size()) {
    data.text_unless_empty("reasoningState", message.reasoning_state);
  }
  if (facts.final) data.flag("final", true);
  if (facts.turn_cost && facts.turn_cost->usd) data.number("turnCostUSD", *facts.turn_cost->usd);
  if (facts.turn_cost && !facts.turn_cost->usd) data.flag("turnUnpriced", true);
  data.text_unless_empty("finishReason", facts.finish_reason);
  data.text_unless_empty("model", facts.model);
  data.text_unless_empty("by", facts.by);
  if (facts.usage.known) {
    data.object("usage", [&](JsonObject& usage) {
      usage.number("inputTokens", facts.usage.input);
      usage.number("outputTokens", facts.usage.output);
      usage.number("cacheReadTokens", facts.usage.cache_read);
      usage.number("cacheWriteTokens", facts.usage.cache_write);
      usage.number("reasoningTokens", facts.usage.reasoning);
    });
  }
  if (facts.total_tokens >= 0) data.number("totalTokens", facts.total_tokens);
}

}  // namespace

bool fits_approval(std::string_view arguments) {
  return fits(arguments, kInlineArgumentBytes);
}

std::string tool_input(std::string_view arguments) {
  std::string compact;
  JsonParser parser(arguments.size());
  auto parsed = parser.parse(arguments);
  // A long text is condensed, but an object with very many members would not fit into an event.
  if (fits_approval(arguments) && parsed && parsed->is_object() && append_compact_json(compact, arguments))
    return compact;
  return object_text([&](JsonObject& object) { object.text("arguments", arguments); });
}

ChatEvent message_event(const ModelMessage& message, const MessageFacts& facts) {
  std::string whole;
  if (is_cut(message)) {
    whole = object_text([&](JsonObject& detail) {
      detail.text("content", message.content);
      write_calls(detail, message.tool_calls, std::string::npos);
    });
  }
  ChatEvent event = make_event(EventType::message, message_summary(message), [&](JsonObject& object) {
    object.text_unless_empty("tool", message.tool_name);
    object.text_unless_empty("callID", message.tool_call_id);
    object.object("data", [&](JsonObject& data) { write_message(data, message, facts); });
    if (!whole.empty()) object.json("detail", whole);
  });
  event.whole = std::move(whole);
  event.images = message.images;
  return event;
}

ChatEvent session_start_event(const SessionFacts& facts) {
  return make_event(EventType::session_start, "Chat with " + facts.model, [&](JsonObject& object) {
    object.text_unless_empty("sessionID", facts.session);
    object.object("data", [&](JsonObject& data) {
      data.text("model", facts.model);
      data.text_unless_empty("backend", facts.backend);
      data.number("contextTokens", facts.context_tokens);
      data.number("systemTokens", facts.system_tokens);
      data.texts("tools", facts.tools);
      data.text_unless_empty("system", facts.system);
    });
  });
}

ChatEvent tool_call_event(const ToolRequest& call, std::string_view summary) {
  return make_event(EventType::tool_call, summary, [&](JsonObject& object) {
    object.text("tool", call.name);
    object.json("input", tool_input(call.arguments));
    object.text("callID", call.id);
  });
}

ChatEvent tool_result_event(const ToolRequest& call, const ToolEnd& end) {
  return make_event(EventType::tool_result, first_line(end.summary), [&](JsonObject& object) {
    object.text("tool", call.name);
    object.text("callID", call.id);
    object.object("output", [&](JsonObject& output) {
      output.flag("success", end.success);
      output.text("summary", end.summary);
      if (end.denied) output.flag("denied", true);
    });
    object.number("durationMS", end.duration_ms);
  });
}

ChatEvent approval_event(const ToolRequest& call, std::string_view state, std::string_view summary,
                         std::string_view message, std::string_view rule, const std::vector<std::string>& hidden) {
  bool pending = state == "pending";
  std::string line(state);
  if (pending) {
    line = hidden.empty() ? "Needs approval" : "Needs approval, runs with hidden text";
  } else {
    line[0] = static_cast<char>(line[0] - 'a' + 'A');
  }
  line.append(": ").append(first_line(summary));
  return make_event(EventType::approval, line, [&](JsonObject& object) {
    object.text("tool", call.name);
    object.text("callID", call.id);
    object.object("data", [&](JsonObject& data) {
      data.text("approvalID", call.id);
      data.text("state", state);
      data.text("kind", "permission");
      data.text("tool", call.name);
      if (pending && fits_approval(call.arguments)) data.json("input", tool_input(call.arguments));
      if (pending && !fits_approval(call.arguments)) {
        data.object("input", [&](JsonObject& input) {
          input.text("arguments", beginning(call.arguments, kInlineArgumentBytes));
          input.flag("cut", true);
        });
      }
      data.text_unless_empty("message", beginning(message, kInlineReasoningBytes));
      std::string_view kept = beginning(rule, kInlineReasoningBytes);
      if (pending) {
        if (!hidden.empty()) data.texts("redacted", hidden);
        data.texts("remember", kept.empty() ? std::vector<std::string>() : std::vector{std::string(kept)});
      } else {
        data.text_unless_empty("remembered", kept);
      }
    });
  });
}

ChatEvent eviction_event(const std::vector<std::uint64_t>& messages, std::int64_t freed, std::int64_t total,
                         EvictionReason reason, bool resync) {
  bool cleared = reason == EvictionReason::cleared;
  std::string summary = cleared ? "Conversation cleared"
                                : std::to_string(messages.size()) + " older messages left the context (" +
                                      std::to_string(freed) + " tokens)";
  return make_event(EventType::eviction, summary, [&](JsonObject& object) {
    object.object("data", [&](JsonObject& data) {
      data.text("reason", cleared ? "cleared" : "context");
      data.number("messagesEvicted", messages.size());
      data.number("tokensFreed", freed);
      data.number("totalTokens", total);
      if (resync) data.flag("resync", true);
      std::string& out = data.member("messages");
      out.push_back('[');
      for (std::uint64_t sequence : messages) {
        if (out.back() != '[') out.push_back(',');
        append_number(out, sequence);
      }
      out.push_back(']');
    });
  });
}

ChatEvent usage_event(const Usage& totals, bool priced, std::string_view model, std::string_view session) {
  std::string summary = std::to_string(totals.input_tokens) + " tokens in, " + std::to_string(totals.output_tokens) +
                        " out" + (priced ? "" : ", unpriced");
  return make_event(EventType::usage, summary, [&](JsonObject& object) {
    object.text_unless_empty("sessionID", session);
    object.object("data", [&](JsonObject& data) {
      if (priced || totals.cost_usd > 0) data.number("costUSD", totals.cost_usd);
      if (!priced) data.flag("unpriced", true);
      data.number("inputTokens", totals.input_tokens);
      data.number("outputTokens", totals.output_tokens);
      data.number("cacheReadTokens", totals.cache_read_tokens);
      data.number("cacheWriteTokens", totals.cache_write_tokens);
      data.number("apiCalls", totals.api_calls);
      data.number("toolUses", totals.tool_uses);
      data.number("turns", totals.turns);
      data.text("model", model);
    });
  });
}

ChatEvent error_event(std::string_view code, std::string_view message, bool final) {
  return make_event(EventType::error, first_line(message), [&](JsonObject& object) {
    object.object("data", [&](JsonObject& data) {
      data.text("code", code);
      data.text("message", beginning(message, kInlineReasoningBytes));
      data.flag("fatal", false);
      data.flag("recoverable", true);
      if (final) data.flag("final", true);
    });
  });
}

ChatEvent state_event(State state, std::string_view message, std::string_view members) {
  return make_event(EventType::status, message, [&](JsonObject& object) {
    object.object("data", [&](JsonObject& data) {
      data.text("state", name(state));
      data.text("message", message);
      data.members(members);
    });
  });
}

ChatEvent settled_event(std::string_view command_id, CommandState state, std::string_view reason) {
  std::string summary = "command " + std::string(name(state));
  if (!reason.empty()) summary.append(": ").append(reason);
  return make_event(EventType::command_result, summary,
                    [&](JsonObject& object) { object.json("data", encode_command_result(command_id, state, reason)); });
}

ChatEvent remark_event(std::string_view text) {
  return make_event(EventType::log, first_line(text), [&](JsonObject&) {});
}

}  // namespace shepherd
