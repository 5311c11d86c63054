#include "chat/conversation.h"

#include <algorithm>
#include <utility>

#include "chat/context_plan.h"
#include "chat/limits.h"
#include "chat/tool_images.h"
#include "json/scan.h"
#include "model/command.h"

namespace shepherd {
namespace {

bool is_true(std::string_view data, std::string_view key) {
  return find_member(data, key) == "true";
}

std::int64_t count_of(std::string_view data, std::string_view key) {
  return static_cast<std::int64_t>(count_value(find_member(data, key)).value_or(0));
}

std::vector<ToolRequest> tool_calls_of(std::string_view data) {
  std::vector<ToolRequest> calls;
  auto elements = array_elements(find_member(data, "toolCalls"));
  for (std::string_view each : elements.value_or(std::vector<std::string_view>())) {
    calls.push_back({text_member(each, "id"), text_member(each, "name"), text_member(each, "arguments")});
  }
  return calls;
}

}  // namespace

void Conversation::begin_late(SessionBasis basis, const Usage& usage) {
  basis_ = std::move(basis);
  usage_ = usage;
}

void Conversation::drop_partial_turn() {
  auto first = std::ranges::find(messages_, Role::user, [](const ChatMessage& each) { return each.message.role; });
  messages_.erase(messages_.begin(), first);
  std::erase_if(cut_,
                [&](std::uint64_t sequence) { return messages_.empty() || sequence < messages_.front().sequence; });
  total_tokens_ = basis_.system_tokens;
  for (const ChatMessage& each : messages_) total_tokens_ += each.tokens;
  exact_ = false;
}

void Conversation::apply(std::uint64_t sequence, EventType type, std::string_view event_json) {
  last_sequence_ = std::max(last_sequence_, sequence);
  std::string_view data = find_member(event_json, "data");
  switch (type) {
    case EventType::session_start:
      basis_.system = text_member(data, "system");
      basis_.system_tokens = count_of(data, "systemTokens");
      // Sessions that older programs forked do not say it.
      if (basis_.system_tokens == 0 && !basis_.system.empty()) basis_.system_tokens = estimated_tokens(basis_.system);
      basis_.started = true;
      total_tokens_ = basis_.system_tokens;
      return;
    case EventType::message:
      return add_message(sequence, event_json);
    case EventType::eviction:
      return evict(data);
    case EventType::tool_call:
      open_calls_.insert(text_member(event_json, "callID"));
      return;
    case EventType::tool_result:
      open_calls_.erase(text_member(event_json, "callID"));
      return;
    case EventType::approval:
      return note_approval(data);
    case EventType::error:
      if (is_true(data, "final")) turn_open_ = false;
      return;
    case EventType::usage:
      usage_.cost_usd = number_value(find_member(data, "costUSD")).value_or(usage_.cost_usd);
      usage_.input_tokens = count_value(find_member(data, "inputTokens")).value_or(0);
      usage_.output_tokens = count_value(find_member(data, "outputTokens")).value_or(0);
      usage_.cache_read_tokens = count_value(find_member(data, "cacheReadTokens")).value_or(0);
      usage_.cache_write_tokens = count_value(find_member(data, "cacheWriteTokens")).value_or(0);
      usage_.api_calls = count_value(find_member(data, "apiCalls")).value_or(0);
      usage_.tool_uses = count_value(find_member(data, "toolUses")).value_or(0);
      usage_.turns = count_value(find_member(data, "turns")).value_or(0);
      basis_.priced = !is_true(data, "unpriced");
      return;
    case EventType::status:
      if (auto mode = agent_mode(text_member(data, "mode"))) basis_.mode = *mode;
      return;
    default:
      return;
  }
}

void Conversation::add_message(std::uint64_t sequence, std::string_view event) {
  std::string_view data = find_member(event, "data");
  ChatMessage added;
  added.sequence = sequence;
  added.message.role = role_named(text_member(data, "role")).value_or(Role::user);
  added.message.content = text_member(data, "content");
  added.message.tool_calls = tool_calls_of(data);
  added.message.tool_call_id = text_member(data, "toolCallID");
  added.message.tool_name = text_member(data, "toolName");
  added.message.failed = is_true(data, "failed");
  added.message.image_count = static_cast<std::size_t>(count_of(data, "images"));
  added.message.reasoning = text_member(data, "reasoning");
  added.message.reasoning_state = text_member(data, "reasoningState");
  added.tokens = count_of(data, "tokens");
  added.exact = is_true(data, "tokensExact");
  if (is_true(data, "contentCut")) cut_.push_back(sequence);
  if (added.message.role == Role::user) turn_open_ = true;
  if (is_true(data, "final")) turn_open_ = false;
  std::string_view total = find_member(data, "totalTokens");
  exact_ = added.exact;
  total_tokens_ =
      total.empty() ? total_tokens_ + added.tokens : static_cast<std::int64_t>(count_value(total).value_or(0));
  messages_.push_back(std::move(added));
}

void Conversation::restore(std::uint64_t sequence, std::string_view detail_json) {
  for (ChatMessage& each : messages_) {
    if (each.sequence != sequence) continue;
    each.message.content = text_member(detail_json, "content");
    each.message.tool_calls = tool_calls_of(detail_json);
  }
  std::erase(cut_, sequence);
}

void Conversation::show(std::uint64_t sequence, std::shared_ptr<const std::vector<ModelImage>> images) {
  std::vector<ModelMessage*> all;
  for (ChatMessage& each : messages_) {
    if (each.sequence == sequence) each.message.images = images;
    all.push_back(&each.message);
  }
  bound_images(all);
}

void Conversation::forget_images() {
  for (ChatMessage& each : messages_) each.message.images = nullptr;
}

void Conversation::evict(std::string_view data) {
  std::set<std::uint64_t> gone;
  auto elements = array_elements(find_member(data, "messages"));
  for (std::string_view each : elements.value_or(std::vector<std::string_view>())) {
    gone.insert(count_value(each).value_or(0));
  }
  std::erase_if(messages_, [&](const ChatMessage& each) { return gone.contains(each.sequence); });
  std::erase_if(cut_, [&](std::uint64_t sequence) { return gone.contains(sequence); });
  total_tokens_ = count_of(data, "totalTokens");
}

void Conversation::note_approval(std::string_view data) {
  std::string id = text_member(data, "approvalID");
  std::string state = text_member(data, "state");
  if (state == "pending") {
    open_approvals_.insert(id);
    return;
  }
  open_approvals_.erase(id);
  std::string rule = text_member(data, "remembered");
  if (state == "approved" && !rule.empty() && basis_.rules.size() < kMaxRememberedRules) {
    basis_.rules.insert(std::move(rule));
  }
}

std::size_t Conversation::turn_begin() const {
  for (std::size_t at = messages_.size(); at > 0; --at) {
    if (messages_[at - 1].message.role == Role::user) return at - 1;
  }
  return messages_.size();
}

std::vector<ToolRequest> Conversation::unanswered() const {
  std::vector<ToolRequest> open;
  for (std::size_t at = messages_.size(); at > 0; --at) {
    const ModelMessage& message = messages_[at - 1].message;
    if (message.role == Role::tool) continue;
    if (message.role != Role::assistant) break;
    for (const ToolRequest& call : message.tool_calls) {
      bool answered = std::any_of(messages_.begin() + static_cast<std::ptrdiff_t>(at), messages_.end(),
                                  [&](const ChatMessage& each) { return each.message.tool_call_id == call.id; });
      if (!answered) open.push_back(call);
    }
    break;
  }
  return open;
}

}  // namespace shepherd
