// The bounds of llm, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- one answer ---
inline constexpr std::size_t kMaxAnswerBytes = 4 * kMiB;        // text, reasoning and arguments; a million tokens
inline constexpr std::size_t kMaxAnswerToolCalls = 128;         // a model that asks for more has lost its way
inline constexpr std::size_t kMaxToolArgumentBytes = 1 * kMiB;  // of one call: a large file to write
inline constexpr std::size_t kMaxStreamLineBytes = 8 * kMiB;    // a whole answer in one line, with escapes
inline constexpr std::size_t kMaxCallNameBytes = 128;           // id or name of a tool call; more is cut
inline constexpr std::size_t kMaxSentNameBytes = 64;            // of a tool, as OpenAI and Anthropic take it

// --- other replies ---
inline constexpr std::size_t kMaxFaultBytes = 64 * kKiB;     // of an error's body; the rest says nothing new
inline constexpr std::size_t kMaxFaultTextBytes = 1 * kKiB;  // of a backend's own words in an error
inline constexpr std::size_t kMaxReplyBytes = 16 * kMiB;     // of a list of models, or of the tokens of a prompt

// --- time ---
inline constexpr std::chrono::milliseconds kFirstTokenWait{300'000};  // a long prompt on a machine without a GPU
inline constexpr std::chrono::milliseconds kNextTokenWait{120'000};   // between two pieces of an answer
inline constexpr std::chrono::milliseconds kStreamEndWait{200};       // last piece to the end of its response
inline constexpr std::chrono::milliseconds kUsageWait{5'000};         // the answer's finish to the stream's end mark
inline constexpr std::chrono::milliseconds kQuestionWait{15'000};     // counting and probing read no weights
inline constexpr std::chrono::milliseconds kKeyCommandWait{30'000};   // a password store may ask over the network

// --- attempts ---
inline constexpr int kModelAttempts = 4;                                // of one call, on one backend
inline constexpr std::chrono::milliseconds kFirstModelPause{500};       // before the second attempt; doubles
inline constexpr std::chrono::milliseconds kMostModelPause{8'000};      // a person is waiting
inline constexpr std::chrono::milliseconds kMostRetryAfter{30'000};     // a backend that asks for more has failed
inline constexpr int kModelBreakerFailures = 3;                         // calls in a row; then the backend rests
inline constexpr std::chrono::milliseconds kModelBreakerPause{15'000};  // in which calls fail at once

// --- keys ---
inline constexpr std::size_t kMaxModelKeyBytes = 16 * kKiB;
inline constexpr std::size_t kMinHiddenBytes = 6;  // a shorter header value is hidden from no error: it may be a word

// --- tokens ---
inline constexpr std::int64_t kMaxCount = 1'000'000'000'000;  // maximum that a backend reports; sums of them fit
inline constexpr std::int64_t kSmallContext = 8'192;          // tools and a system prompt fill less
inline constexpr std::int64_t kUntoldOllamaContext = 4'096;   // what Ollama allocates on a small machine, untold
inline constexpr std::int64_t kUntoldMaxTokens = 4'096;       // for a dialect that must be told a bound for the answer

}  // namespace shepherd
