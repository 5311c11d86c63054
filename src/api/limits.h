// The bounds of api, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- ids and small fields ---
inline constexpr std::size_t kMaxProducerIdBytes = 128;

// --- events in ---
inline constexpr std::chrono::milliseconds kLateEvents{30'000};  // after a task's end, for events of loose producers

// --- tasks ---
inline constexpr std::size_t kMaxTaskBodyBytes = 2 * kMiB;
inline constexpr std::size_t kMaxTaskRequestBytes = 4 * kMiB;  // a new task, every byte of its context escaped

// --- feeds and hub ---
inline constexpr std::size_t kPageEvents = 500;      // default size of a JSON page
inline constexpr std::size_t kMaxFeedTasks = 1'000;  // ?tasks= and subscriptions of one multiplexed feed
inline constexpr std::chrono::milliseconds kTaskUpdateInterval{250};  // task_update: at most 4 a second per task

// --- search ---
inline constexpr std::size_t kSearchResults = 50;

// --- access ---
inline constexpr std::chrono::hours kTokenLife{365 * 24};  // default life of a token

// --- HTTP API ---
inline constexpr std::size_t kTaskPage = 100;                 // default size of a list of tasks
inline constexpr std::size_t kMaxSmallBodyBytes = 64 * kKiB;  // tokens, status updates without payload, patches
inline constexpr std::size_t kInlineDecodeBytes =
    256 * kKiB;  // larger bodies are decoded on a worker thread, not on an io thread
inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;
inline constexpr std::size_t kMaxFilterTypes = 32;      // unknown names in ?types=
inline constexpr std::size_t kMaxPageScan = 200'000;    // events that a filtered page examines before it ends early
inline constexpr std::size_t kMaxTailScan = 1'000'000;  // events that a filtered tail looks back over
inline constexpr std::chrono::milliseconds kProducerTrail{60'000};  // posts of a connection that share an audit record
inline constexpr std::chrono::milliseconds kReadinessCache{1'000};  // probes write at most this often
inline constexpr std::size_t kMaxPendingReplies = 64 * kKiB;        // bytes of unread answers to a WebSocket client

// --- inbox, timeline, findings, stats ---
inline constexpr std::chrono::milliseconds kInboxUpdateInterval{500};  // inbox_update: at most 2 a second
inline constexpr std::size_t kInboxPage = 100;                         // default number of entries in one answer
inline constexpr std::size_t kMaxInboxPage = 1'000;
inline constexpr std::size_t kTimelineBuckets = 200;  // default number of buckets in a timeline
inline constexpr std::size_t kMaxTimelineBuckets = 2'000;
inline constexpr std::size_t kFindingPage = 100;  // default number of findings in one answer
inline constexpr std::size_t kMaxFindingPage = 1'000;

// --- terminal, hooks and imports ---
inline constexpr int kMaxSessionTasks = 1'000;            // tasks of one agent session, which can be resumed many times
inline constexpr std::size_t kMaxTelemetrySessions = 16;  // of one task; telemetry of further ones is ignored

// --- chat sessions ---
inline constexpr std::size_t kMaxPromptBodyBytes = 2 * kMiB;  // a prompt of kMaxPromptBytes, with escapes
inline constexpr std::chrono::milliseconds kLateAnswer{
    2'000};  // then the head is sent, because clients wait 5 s for it

// --- stateless calls (/v1) ---
// Then the head of a streamed answer is sent, and a later error comes in the stream: common clients wait 5 s for a
// byte, and a backend that refuses has usually been asked again by then.
inline constexpr std::chrono::milliseconds kLateCompletion{4'000};
inline constexpr std::chrono::milliseconds kCompletionQuiet{2'000};  // silence in a stream before a comment
inline constexpr std::chrono::milliseconds kPeerLook{250};           // between two looks whether the client is there
inline constexpr std::size_t kMaxUnsentCompletionBytes =
    8 * kMiB;                                                  // for a client that reads slower than the model writes
inline constexpr std::size_t kMaxCompletionMessages = 10'000;  // of one request
inline constexpr std::size_t kMaxCompletionTools = 512;        // of one request; backends take fewer
inline constexpr std::size_t kMaxCallerToolNameBytes = 64;     // what backends take as the name of a function
inline constexpr std::size_t kMaxRouteSegments = 8;            // of one path; a longer one has no route
inline constexpr std::uint64_t kMaxStatsStepSeconds = 366 * 86'400;     // of one point of a curve
inline constexpr std::int64_t kMaxTokenSeconds = 100LL * 366 * 86'400;  // life of a token that a caller may ask for

}  // namespace shepherd
