// The bounds of outbound, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::chrono::milliseconds kCallbackTimeout{10'000};  // one attempt, including the answer
inline constexpr std::int64_t kCallbackAttempts = 12;  // about half an hour, together with the pauses below
inline constexpr std::size_t kMaxTaskCallbacks = 100;  // undelivered reports of one task
inline constexpr std::size_t kCallbacksInFlight = 64;  // each is a socket; slow ones delay the others
inline constexpr std::size_t kCallbacksPerHost = 4;    // one slow receiver must not use up the others
inline constexpr std::chrono::milliseconds kCallbackFirstPause{1'000};  // before the second attempt; doubles
inline constexpr std::chrono::milliseconds kCallbackMostPause{600'000};
inline constexpr std::chrono::milliseconds kCallbackTakeover{300'000};  // a claim older than this has lost its owner
inline constexpr int kBreakerFailures = 5;                              // in a row; then attempts to the host pause
inline constexpr std::chrono::milliseconds kBreakerPause{30'000};       // how long attempts to a failing host pause
inline constexpr std::size_t kBreakerHosts = 1'000;                     // hosts with remembered failures
inline constexpr std::size_t kMaxCallbackAnswerBytes = 1 * kMiB;        // the answer's body is ignored
inline constexpr std::size_t kMaxUrlBytes = 2'048;
inline constexpr std::chrono::milliseconds kTokenCommandTimeout{30'000};
inline constexpr std::size_t kMaxTokenBytes = 16 * kKiB;  // of a repository credential
// Assumed life of a credential whose provider gives none; GitHub's own live this long. A caller cannot rely on it for
// longer.
inline constexpr std::chrono::milliseconds kTokenUntoldLife{60 * 60 * 1'000};
inline constexpr std::size_t kTokenThreads = 2;  // a provider may be slow

}  // namespace shepherd
