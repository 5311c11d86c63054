// Decides what fits into a model's context: how many tokens an answer gets, and which old messages must go first.
// Pure. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chat/conversation.h"

namespace shepherd {

// The tokens to keep free for an answer. `wanted` is the request's max_tokens: 0 for a share that grows with the
// context, -1 for everything that is left, otherwise the number itself.
std::int64_t answer_reserve(std::int64_t context, std::int64_t wanted, std::int64_t max_output);
// The max_tokens to send for a prompt of that size; 0 if the context is not known and none was asked for.
std::int64_t answer_limit(std::int64_t context, std::int64_t prompt, std::int64_t wanted, std::int64_t max_output);

// About how many tokens a text is, where the backend cannot count.
std::int64_t estimated_tokens(std::string_view text);
// More than a text can be: a token is at least a byte.
std::int64_t most_tokens(const ModelMessage& message);

struct Eviction {
  std::vector<std::uint64_t> messages;  // sequences; empty: nothing is left that may go
  std::int64_t tokens = 0;              // sum of those messages
  bool inside_turn = false;             // not only from the front, so a client must read the session again
};
// Whole units, oldest first, that free at least `needed` tokens, or all there are: first whole turns before the current
// one, then tool calls of the current turn with all their results, but not the newest. The current prompt stays.
// `turn` is where the current turn begins in `messages`, their number if its prompt is not among them yet.
Eviction plan_eviction(const std::vector<ChatMessage>& messages, std::size_t turn, std::int64_t needed);

}  // namespace shepherd
