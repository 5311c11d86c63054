// The bounds of mcp, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- what a server sends ---
inline constexpr std::size_t kMaxMcpMessageBytes = 16 * kMiB;   // a few images in base64; longer ends the connection
inline constexpr std::size_t kMaxMcpResultBytes = 256 * kKiB;   // text of one result for the model; the rest is cut
inline constexpr std::size_t kMaxMcpImages = 16;                // of one result; a model looks at a few
inline constexpr std::size_t kMaxMcpImageBytes = 12 * kMiB;     // of all images of one result, in base64
inline constexpr std::size_t kMaxMcpOneImageBytes = 5'000'000;  // in base64; Anthropic refuses a larger one
inline constexpr std::size_t kMaxMcpTools = 512;                // of one server; a model cannot choose among more
inline constexpr int kMaxMcpPages = 200;                        // of one list of tools; a server may repeat its cursor
inline constexpr std::size_t kMaxMcpSchemaBytes = 64 * kKiB;    // of one tool's parameters, which every prompt carries
inline constexpr std::size_t kMaxMcpToolTextBytes = 8 * kKiB;   // of one tool's description, for the same reason
inline constexpr std::size_t kMaxMcpFaultBytes = 64 * kKiB;     // body of a refused request; the rest says nothing new
inline constexpr std::size_t kMaxMcpFaultTextBytes = 1 * kKiB;  // of a server's own words in an error
inline constexpr std::size_t kMaxMcpSessionBytes = 1 * kKiB;    // a session's id, which every request carries
inline constexpr std::size_t kMaxMcpEventIdBytes = 1 * kKiB;    // of one event, for the same reason
inline constexpr std::size_t kMaxMcpStateBytes = 1 * kMiB;      // what a server wants back with the next attempt

// --- what is sent to a server ---
inline constexpr std::size_t kMaxMcpInputBytes = 16 * kMiB;  // waiting for a program that does not read
inline constexpr std::size_t kMaxMcpRequests = 256;          // open on one server; more calls fail at once
inline constexpr std::size_t kMaxMcpReplies = 16;  // answers to a server under way over HTTP; more are dropped
inline constexpr int kMaxMcpInputRounds = 10;      // attempts of one call that the server answers with "retry"

// --- floods: messages that answer nothing ---
inline constexpr std::chrono::milliseconds kMcpFloodWindow{10'000};
inline constexpr std::size_t kMaxMcpFloodMessages = 20'000;  // in one window; a busy server sends a few hundred
inline constexpr std::size_t kMaxMcpFloodBytes = 64 * kMiB;  // the same
inline constexpr std::size_t kMcpLogLines = 20;              // of a server's own log, in one window; more are counted
inline constexpr std::size_t kMaxMcpLogLineBytes = 500;      // of one such line
inline constexpr std::chrono::milliseconds kMcpProgressPause{1'000};  // between two lines of progress for people
inline constexpr std::size_t kMaxMcpProgressBytes = 300;              // of one such line
inline constexpr std::chrono::milliseconds kMcpRelistPause{1'000};    // between two readings of a list that changes

// --- time ---
inline constexpr std::chrono::milliseconds kMcpProbeWait{5'000};       // a program's answer about its version
inline constexpr std::chrono::milliseconds kMcpHandshakeWait{60'000};  // the first start may install something
inline constexpr std::chrono::milliseconds kMcpListWait{60'000};       // one page of tools
inline constexpr std::int64_t kMcpCallSeconds = 60;              // default of timeout_seconds; progress extends it
inline constexpr std::int64_t kMaxMcpCallSeconds = 3'600;        // a call is over then, progress or not
inline constexpr std::chrono::milliseconds kMcpInputPause{100};  // before the third attempt of a call; doubles
inline constexpr std::chrono::milliseconds kMostMcpInputPause{5'000};  // a person is waiting

// --- the end of a program, and of a session ---
inline constexpr std::chrono::milliseconds kMcpExitWait{2'000};  // after its input has ended; tested ones need 1.1 s
inline constexpr std::chrono::milliseconds kMcpTerminateWait{2'000};  // after SIGTERM
inline constexpr std::chrono::milliseconds kMcpKillWait{3'000};       // after SIGKILL; then it is left to its warden
inline constexpr std::chrono::milliseconds kMcpReapPause{2};          // between two looks at a warden that ends
inline constexpr std::chrono::milliseconds kMcpFarewellWait{1'000};   // for the answer to the end of a session

// --- restarts ---
inline constexpr std::chrono::milliseconds kFirstMcpPause{500};  // before the first restart; doubles
inline constexpr std::chrono::milliseconds kMostMcpPause{60'000};
inline constexpr std::chrono::milliseconds kMcpSteady{60'000};  // a server that was there this long begins anew
inline constexpr int kMaxMcpRestarts = 5;                       // of a program, in a row; then a person must look

// --- event streams ---
inline constexpr std::chrono::milliseconds kMcpRetryPause{1'000};       // before a stream is resumed, unless told
inline constexpr std::chrono::milliseconds kMostMcpRetryPause{60'000};  // a server that asks for more gets this
inline constexpr int kMaxMcpResumes = 10;                               // in a row that bring nothing new
inline constexpr int kMaxMcpDiscoveries = 2;  // of one start: a second one with the version that the first answer named
inline constexpr std::size_t kMaxMcpLabelBytes = 300;  // of a name, an address or a type in a line for the model
inline constexpr std::chrono::milliseconds kMcpStreamRest{1'000};  // for a stream to end after its answer
inline constexpr std::size_t kMaxMcpShownArgumentBytes = 160;      // of a call, in one line for people
inline constexpr std::size_t kMaxMcpToolNameBytes = 256;           // the protocol's own advice is 128
inline constexpr std::size_t kMaxMcpFunctionNameBytes = 64;        // what backends take as the name of a function
inline constexpr std::size_t kMaxMcpServerNameBytes = 32;          // leaves half of a function's name to the tool

}  // namespace shepherd
