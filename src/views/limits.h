// The bounds of views, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shepherd {

inline constexpr std::size_t kMaxStreamTasks = 1'000;  // a stream may name, each with a feed of its own
inline constexpr std::chrono::milliseconds kInboxShowsFailed{86'400'000};  // a task that failed longer ago is history
inline constexpr std::size_t kMaxTimelineMarks = 500;                      // a time bar has no more pixels for them
inline constexpr std::size_t kMaxTimelineEvents = 2'000'000;  // the newest of a log; 10 bytes of memory each
inline constexpr std::uint64_t kMaxStatsPoints = 1'000;       // of one curve
inline constexpr std::size_t kMaxStatsSeries = 20;            // curves a chart can show; the rest is one, "other"
inline constexpr std::size_t kMaxStatsTools = 50;             // the most used ones
inline constexpr std::size_t kMaxFigureSeries = 30;           // of one metric; Prometheus keeps each for ever

}  // namespace shepherd
