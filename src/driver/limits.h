// The bounds of driver, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- commands and drivers ---
inline constexpr std::size_t kMaxAgentLineBytes = 64 * kMiB;   // one line an agent prints; a longer one is cut
inline constexpr std::size_t kMaxAgentIdBytes = 256;           // an agent's own id of a call, session or request
inline constexpr std::size_t kMaxEventTextBytes = 16 * kKiB;   // an agent's text in an event; the detail has all of it
inline constexpr std::size_t kMaxWholeBytes = 1 * kMiB;        // an input or output as it is sent; the server cuts it.
                                                               // Above what one can keep of it (kMaxEventBytes)
inline constexpr std::size_t kMaxEventDataBytes = 128 * kKiB;  // any event's `data` before it is cut
inline constexpr std::size_t kTextSummaryCharacters = 200;     // of an agent's text as one human line
inline constexpr std::size_t kMaxOpenCalls = 10'000;           // tool calls without a result that are remembered
inline constexpr std::size_t kOpenMessages = 256;  // newest messages of an agent whose numbers may still change
inline constexpr std::chrono::milliseconds kUsagePause{5'000};  // between two words on what a running turn has used;
                                                                // short turns say it at their end alone
inline constexpr std::size_t kMaxBatchBytes = 64 * kMiB;        // an agent's whole output in the batch formats
inline constexpr std::chrono::milliseconds kTextJoinWait{250};  // plain lines this close together are one event
inline constexpr std::size_t kTextJoinBytes = 8 * kKiB;         // bytes of lines joined into one event
inline constexpr std::size_t kStderrTailBytes = 4 * kKiB;       // newest error output, to say why an agent ended

// --- telemetry ---
inline constexpr std::size_t kMaxTelemetryCalls = 512;   // newest calls that are recognised when they come again: an
                                                         // exporter repeats one batch, of 512 records at most
inline constexpr std::size_t kMaxTelemetrySeries = 512;  // of one session: metrics by model, kind and source
inline constexpr std::size_t kMaxTelemetryModels = 64;   // of one session, counted separately
inline constexpr double kMaxTelemetryValue = 1e15;       // of one number; a larger one is no count of tokens

}  // namespace shepherd
