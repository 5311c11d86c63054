#include "chat/context_plan.h"

#include <algorithm>

#include "chat/limits.h"

namespace shepherd {

std::int64_t answer_reserve(std::int64_t context, std::int64_t wanted, std::int64_t max_output) {
  if (context <= 0) return std::max<std::int64_t>(wanted, 0);
  std::int64_t reserve = kLeastReserveTokens;
  if (wanted > 0) {
    reserve = wanted;
  } else if (wanted == 0) {
    // A third of half the context, up to three fifths of it for large contexts.
    double half = static_cast<double>(context) / 2;
    reserve = static_cast<std::int64_t>(half * std::clamp(0.33 + half / 80'000 * 0.27, 0.33, 0.6));
  }
  if (max_output > 0) reserve = std::min(reserve, max_output);
  return std::min(reserve, std::max<std::int64_t>(context / 2, 1));
}

std::int64_t answer_limit(std::int64_t context, std::int64_t prompt, std::int64_t wanted, std::int64_t max_output) {
  if (context <= 0) return std::max<std::int64_t>(wanted, 0);
  std::int64_t free = std::max<std::int64_t>(context - prompt, 1);
  std::int64_t limit = wanted > 0 ? wanted : wanted < 0 ? free : answer_reserve(context, 0, max_output);
  if (max_output > 0) limit = std::min(limit, max_output);
  return std::min(limit, free);
}

std::int64_t estimated_tokens(std::string_view text) {
  return static_cast<std::int64_t>(static_cast<double>(text.size()) / kBytesPerToken) + 1;
}

std::int64_t most_tokens(const ModelMessage& message) {
  std::size_t bytes = message.content.size() + message.reasoning.size();
  for (const ToolRequest& call : message.tool_calls) bytes += call.name.size() + call.arguments.size() + call.id.size();
  std::size_t images = message.images == nullptr ? 0 : message.images->size();
  return static_cast<std::int64_t>(bytes) + kMessageOverheadTokens +
         static_cast<std::int64_t>(images) * kMostImageTokens;
}

namespace {

// Takes the messages [from, to) into the eviction.
void take_unit(Eviction& eviction, const std::vector<ChatMessage>& messages, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to; ++at) {
    eviction.messages.push_back(messages[at].sequence);
    eviction.tokens += std::max<std::int64_t>(messages[at].tokens, 1);
  }
}

}  // namespace

Eviction plan_eviction(const std::vector<ChatMessage>& messages, std::size_t turn, std::int64_t needed) {
  Eviction eviction;
  std::size_t at = 0;
  while (at < turn && eviction.tokens < needed) {
    std::size_t end = at + 1;
    while (end < turn && messages[end].message.role != Role::user) ++end;
    take_unit(eviction, messages, at, end);
    at = end;
  }
  if (eviction.tokens >= needed) return eviction;
  // Groups of the current turn: an assistant message with its tool messages.
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t begin = turn; begin < messages.size();) {
    std::size_t end = begin + 1;
    if (messages[begin].message.role == Role::assistant) {
      while (end < messages.size() && messages[end].message.role == Role::tool) ++end;
      groups.emplace_back(begin, end);
    }
    begin = end;
  }
  if (!groups.empty()) groups.pop_back();
  for (auto [begin, end] : groups) {
    if (eviction.tokens >= needed) break;
    take_unit(eviction, messages, begin, end);
    eviction.inside_turn = true;
  }
  return eviction;
}

}  // namespace shepherd
