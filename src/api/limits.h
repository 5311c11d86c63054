// The bounds of api, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- ids and small fields ---
inline constexpr std::size_t kMaxProducerIdBytes = 128;

// --- events in ---
inline constexpr std::chrono::milliseconds kLateEvents{30'000};  // after a task's end, from who fires and forgets

// --- tasks ---
inline constexpr std::size_t kMaxTaskBodyBytes = 2 * kMiB;
inline constexpr std::size_t kTaskReadSlice = 32;              // of a list at once: with full contexts, 48 MB
inline constexpr std::size_t kMaxTaskRequestBytes = 4 * kMiB;  // a new task: a full context whose every byte is escaped

// --- feeds and hub ---
inline constexpr std::size_t kPageEvents = 500;      // default JSON page
inline constexpr std::size_t kMaxFeedTasks = 1'000;  // ?tasks= and subscriptions of one multiplexed feed
inline constexpr std::chrono::milliseconds kTaskUpdateInterval{250};  // task_update: at most 4 a second per task

// --- search ---
inline constexpr std::size_t kSearchResults = 50;

// --- access ---
inline constexpr std::chrono::hours kTokenLife{365 * 24};  // tokens made without --expires

// --- HTTP API ---
inline constexpr std::size_t kTaskPage = 100;                 // default list of tasks
inline constexpr std::size_t kMaxSmallBodyBytes = 64 * kKiB;  // tokens, status updates without payload, patches
inline constexpr std::size_t kInlineDecodeBytes =
    256 * kKiB;  // larger bodies are decoded on a worker thread, not on an io thread
inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;
inline constexpr std::size_t kMaxFilterTypes = 32;      // unknown names in ?types=
inline constexpr std::size_t kMaxPageScan = 200'000;    // events a filtered page looks at before it ends early
inline constexpr std::size_t kMaxTailScan = 1'000'000;  // events a filtered tail looks back over
inline constexpr std::chrono::milliseconds kProducerTrail{60'000};  // posts of a connection that share an audit record
inline constexpr std::chrono::milliseconds kReadinessCache{1'000};  // probes do not write more often than this
inline constexpr std::size_t kMaxPendingReplies = 64 * kKiB;        // answers a WebSocket client leaves unread

// --- inbox, timeline, findings, stats ---
inline constexpr std::chrono::milliseconds kInboxUpdateInterval{500};  // inbox_update: at most 2 a second
inline constexpr std::size_t kInboxPage = 100;                         // entries in one answer, unless it says
inline constexpr std::size_t kMaxInboxPage = 1'000;
inline constexpr std::size_t kTimelineBuckets = 200;  // of a time bar, unless it says
inline constexpr std::size_t kMaxTimelineBuckets = 2'000;
inline constexpr std::size_t kFindingPage = 100;  // findings in one answer, unless it says
inline constexpr std::size_t kMaxFindingPage = 1'000;

// --- terminal, hooks and imports ---
inline constexpr int kMaxSessionTasks = 1'000;  // tasks of one agent session, which is resumed again and again

}  // namespace shepherd
