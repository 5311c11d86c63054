// The bounds of chat, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxPromptBytes = 1 * kMiB;  // of one prompt; a larger text belongs into a file
// Of a message in its event, escaped: its text, the arguments of all its calls, its reasoning and the state of that.
// Together with names and ids they stay below kMaxEventBytes.
inline constexpr std::size_t kInlineMessageBytes = 96 * kKiB;
inline constexpr std::size_t kInlineArgumentBytes = 64 * kKiB;
inline constexpr std::size_t kInlineReasoningBytes = 24 * kKiB;
inline constexpr std::size_t kMaxQueuedPrompts = 256;  // per session; more are refused
// Defaults of the configuration: turns that run at the same time, and model calls in one turn.
inline constexpr std::int64_t kParallelTurns = 64;
inline constexpr std::int64_t kMaxTurnSteps = 50;
inline constexpr int kMaxEvictionRounds = 8;                      // counts after evictions before one call
inline constexpr int kMaxOverflowRetries = 2;                     // calls again after the backend said "context full"
inline constexpr std::int64_t kLeastReserveTokens = 256;          // for an answer that may use all that is left
inline constexpr std::int64_t kMessageOverheadTokens = 16;        // what a chat template adds to a message, at most
inline constexpr std::int64_t kMostImageTokens = 5'000;           // of one image, with every backend that is known
inline constexpr double kBytesPerToken = 3.0;                     // estimate where the backend cannot count
inline constexpr std::chrono::milliseconds kIdleSession{60'000};  // unloaded after that; its log has everything
// Between the last event of a turn and the end of its request: a client that reads both on one thread then has them in
// this order.
inline constexpr std::chrono::milliseconds kAnswerAfterEvents{50};
inline constexpr std::chrono::milliseconds kTurnReplay{1'000};  // a new observer gets a turn this young from its start
inline constexpr std::size_t kMaxRecentEvents = 100;            // of that turn
inline constexpr std::size_t kDeltaBytes = 16 * kKiB;           // live text is passed on in pieces of at most this
inline constexpr std::size_t kMaxLiveBytes = 4 * kMiB;         // live text of a turn that waits for its prompt's commit
inline constexpr std::size_t kCurrentRequestCharacters = 100;  // of the prompt that /status shows
inline constexpr std::size_t kLoadEvents = 2'000;              // of a log read at once while a session is loaded
inline constexpr std::size_t kLoadBytes = 4 * kMiB;
inline constexpr std::chrono::milliseconds kTurnEndWait{5'000};  // for the end of turns when the server stops
inline constexpr std::size_t kMaxToldBytes = 4 * kMiB;           // messages kept as they were before redaction
inline constexpr std::size_t kMaxRememberedRules = 256;          // approvals that a session remembers
inline constexpr std::size_t kMaxShownImageBytes = 16 * kMiB;    // of tools, in base64, in memory with a conversation
// Stateless calls.
inline constexpr std::size_t kMaxParallelCompletions = 1'000;    // each holds an answer in memory
inline constexpr std::size_t kMaxHeldRequestBytes = 256 * kMiB;  // requests of calls under way, with their images
inline constexpr std::size_t kMaxShownToolNameBytes = 64;        // what backends take as the name of a function
inline constexpr std::size_t kMaxLoggedMessages = 100;         // newest of one call; a client repeats its whole history
inline constexpr std::size_t kApiCallTitleCharacters = 80;     // of the prompt, as the title of its task
inline constexpr std::size_t kLoggedSystemCharacters = 4'000;  // of a system prompt, which is the same in every call

}  // namespace shepherd
