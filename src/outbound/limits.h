// The bounds of outbound, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::chrono::milliseconds kCallbackTimeout{10'000};    // one attempt, answer included
inline constexpr std::int64_t kCallbackAttempts = 12;                   // with the pauses below: about half an hour
inline constexpr std::size_t kMaxTaskCallbacks = 100;                   // reports of one task that wait to be told
inline constexpr std::int64_t kCallbackThreads = 4;                     // one slow receiver must not hold up the others
inline constexpr std::chrono::milliseconds kCallbackFirstPause{1'000};  // before the second attempt; doubles
inline constexpr std::chrono::milliseconds kCallbackMostPause{600'000};
inline constexpr std::chrono::milliseconds kCallbackTakeover{300'000};  // a claim older than this has no owner any more
inline constexpr int kBreakerFailures = 5;                              // in a row, then a host is left alone
inline constexpr std::chrono::milliseconds kBreakerPause{30'000};       // how long a failing host is left alone
inline constexpr std::size_t kBreakerHosts = 1'000;                     // whose failures are remembered
inline constexpr std::size_t kMaxCallbackAnswerBytes = 1 * kMiB;        // nobody reads it
inline constexpr std::size_t kMaxUrlBytes = 2'048;
inline constexpr std::chrono::milliseconds kTokenCommandTimeout{30'000};
inline constexpr std::size_t kMaxTokenBytes = 16 * kKiB;  // of a repository credential
// How long a credential is said to be good when its provider does not say: what GitHub's own are. Whoever needs one
// later than that cannot count on it.
inline constexpr std::chrono::milliseconds kTokenUntoldLife{60 * 60 * 1'000};
inline constexpr std::size_t kTokenThreads = 2;  // a provider may take its time

}  // namespace shepherd
