// The bounds of steering, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- steering ---
inline constexpr std::size_t kMaxCommandIdBytes = 56;              // "command:" and the id are the event's id
inline constexpr std::size_t kMaxParkedClaims = 10'000;            // claims that wait for a task at the same time
inline constexpr std::int64_t kLeaseSeconds = 30;                  // a runner that says nothing for this long is lost
inline constexpr std::chrono::milliseconds kMostLeaseStep{1'000};  // a longer pause between ticks is the server's own
inline constexpr std::int64_t kRunnerSeenSeconds = 60;           // after its last claim a runner is no longer connected
inline constexpr std::size_t kMaxSeenRunners = 10'000;           // that are remembered
inline constexpr std::size_t kMaxNamedAgents = 10;               // in one sentence about what runners take
inline constexpr std::chrono::milliseconds kRunnerCount{1'000};  // how often runners are counted, for metrics
inline constexpr std::uint64_t kMaxSilentClaims = 3;      // runners that take a task and are never heard of again
inline constexpr std::int64_t kTimeoutGraceSeconds = 60;  // for the runner to end a task that ran out of time itself
inline constexpr std::chrono::milliseconds kWatchCursorInterval{5'000};  // what a restart reads again, at most
inline constexpr std::chrono::milliseconds kTokenCommandTimeout{30'000};
inline constexpr std::size_t kMaxTokenBytes = 16 * kKiB;  // of a repository credential
// How long a credential is said to be good when its provider does not say: what GitHub's own are. Whoever needs one
// later than that cannot count on it.
inline constexpr std::chrono::milliseconds kTokenUntoldLife{60 * 60 * 1'000};
inline constexpr std::size_t kTokenThreads = 2;                         // a provider may take its time
inline constexpr std::chrono::milliseconds kCallbackTimeout{10'000};    // one attempt, answer included
inline constexpr std::int64_t kCallbackAttempts = 12;                   // with the pauses below: about half an hour
inline constexpr std::size_t kMaxTaskCallbacks = 100;                   // reports of one task that wait to be told
inline constexpr std::int64_t kCallbackThreads = 4;                     // one slow receiver must not hold up the others
inline constexpr std::chrono::milliseconds kCallbackFirstPause{1'000};  // before the second attempt; doubles
inline constexpr std::chrono::milliseconds kCallbackMostPause{600'000};
inline constexpr std::chrono::milliseconds kCallbackTakeover{300'000};  // a claim older than this has no owner any more
inline constexpr int kBreakerFailures = 5;                              // in a row, then a host is left alone
inline constexpr std::chrono::milliseconds kBreakerPause{30'000};       // for this long
inline constexpr std::size_t kBreakerHosts = 1'000;                     // whose failures are remembered
inline constexpr std::size_t kMaxCallbackAnswerBytes = 1 * kMiB;        // nobody reads it
inline constexpr std::size_t kMaxUrlBytes = 2'048;

// --- terminal, hooks and imports ---
inline constexpr std::int64_t kSessionIdleSeconds = 12 * 3600;  // a session that says nothing for this long has ended

}  // namespace shepherd
