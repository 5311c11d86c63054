// The bounds of net, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- HTTP ---
inline constexpr std::size_t kMaxHeaderBytes = 32 * kKiB;      // request line and all headers together
inline constexpr std::size_t kMaxBodyBytes = 16 * kMiB;        // any request body unless its route allows less
inline constexpr std::size_t kCallerBodyBytes = 64 * kMiB;     // unfinished bodies of one caller: four of the largest
inline constexpr std::size_t kListenerBodyBytes = 256 * kMiB;  // unfinished bodies of all callers of a listener
inline constexpr std::size_t kMaxConnections = 20'000;         // per listener; more get 503 and are closed
inline constexpr std::size_t kReadBufferBytes = 64 * kKiB;     // one per io thread, shared by its connections
inline constexpr std::chrono::milliseconds kHeaderDeadline{10'000};  // first byte of a request to its last header
inline constexpr std::chrono::milliseconds kBodyDeadline{60'000};    // last header to the end of the body
inline constexpr std::chrono::milliseconds kIdleDeadline{75'000};    // idle keep-alive connection
inline constexpr std::chrono::milliseconds kKeepAlive{15'000};       // SSE keepalive event, WebSocket ping
inline constexpr std::chrono::milliseconds kTlsHandshakeDeadline{10'000};
inline constexpr std::size_t kMaxHeaders = 100;                     // per request; more only waste time
inline constexpr std::size_t kMaxChunkLineBytes = 256;              // size line of a chunk, with its extensions
inline constexpr std::size_t kInlineBodyBytes = 16 * kKiB;          // response bodies up to this are copied
inline constexpr std::size_t kRefusedConnections = 64;              // over kMaxConnections, waiting for their 503
inline constexpr std::size_t kSweepSlice = 256;                     // connections checked at once, so a sweep is short
inline constexpr std::size_t kMaxClientResponseBytes = 256 * kMiB;  // for our own clients: pages and exports
inline constexpr int kReadsPerTurn = 4;  // of one connection before the others get their turn
inline constexpr int kAcceptsPerTurn = 64;
inline constexpr int kEventsPerWait = 256;  // of all sockets that one look takes up
// Work posted to one io thread that it has not run: a few pieces for each connection, stream, feed and call, which have
// their own bounds, and all of them may be on one thread. More is a part of the program that posts without waiting.
inline constexpr std::size_t kMaxPosted = 1'000'000;
inline constexpr int kListenBacklog = 4'096;                           // for a fleet that reconnects at once
inline constexpr std::chrono::milliseconds kSweepInterval{1'000};      // how often deadlines and ticks are checked
inline constexpr std::chrono::milliseconds kLingerDeadline{2'000};     // last byte sent to the peer's own close
inline constexpr std::chrono::milliseconds kAcceptPause{100};          // pause in accepting without free descriptors
inline constexpr std::chrono::milliseconds kAcceptTroubleLog{30'000};  // time between two log lines about it

// --- WebSocket ---
inline constexpr std::size_t kMaxWebSocketMessageBytes = 64 * kKiB;  // what a client may send (commands, subscriptions)
inline constexpr int kMissedPongs = 2;                               // unanswered pings before a peer counts as dead

// --- clients ---
inline constexpr std::chrono::milliseconds kResolveDeadline{10'000};  // two tries of the system's resolver
inline constexpr std::chrono::milliseconds kDialDeadline{10'000};     // all addresses of a name; one lost packet or two
inline constexpr std::chrono::milliseconds kFirstByteDeadline{60'000};    // for a server that thinks before it answers
inline constexpr std::chrono::milliseconds kAnswerIdleDeadline{300'000};  // a stream with keep-alives is never as quiet
inline constexpr std::chrono::milliseconds kDialStagger{250};  // before the next address is tried beside a slow one
inline constexpr std::chrono::milliseconds kTimerGrain{1};     // a timer is not checked more often
inline constexpr std::size_t kMaxDialedAddresses = 16;         // of one name; more are ignored
inline constexpr std::size_t kResolverThreads = 4;             // look-ups at once, because each blocks its thread
inline constexpr std::size_t kMaxLookups = 1'000;              // waiting for a thread; more fail at once
inline constexpr std::size_t kIdlePerOrigin = 8;               // kept connections to one server
inline constexpr std::size_t kIdleConnections = 64;            // kept connections to all servers
inline constexpr std::chrono::milliseconds kKeptIdle{60'000};  // a server's own limit is usually longer
inline constexpr int kMaxInterimResponses = 16;                // 1xx before the real response
inline constexpr std::size_t kMaxMethodBytes = 32;             // of a request's method; registered ones have at most 17
inline constexpr std::size_t kFirstBodyReserve = 256 * kKiB;   // for a body of any declared length, before it comes

}  // namespace shepherd
