// The bounds of views, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shepherd {

inline constexpr std::size_t kMaxStreamTasks = 1'000;  // tasks that one stream may name, each with its own feed
inline constexpr std::chrono::milliseconds kInboxShowsFailed{86'400'000};  // an older failure is no longer shown
inline constexpr std::size_t kMaxScanBeginnings = 16;  // of one scan whose log retention drops before it gets there
inline constexpr std::size_t kMaxTimelineMarks = 500;  // marks in a time bar, which has no more pixels
inline constexpr std::size_t kMaxTimelineEvents = 2'000'000;  // newest events of a log; each takes 10 bytes of memory
inline constexpr std::uint64_t kMaxStatsPoints = 1'000;       // points of one curve
inline constexpr std::size_t kMaxStatsSeries = 20;            // curves in a chart; the rest become one, "other"
// Minutes, or quarters of an hour, of one step of a read: a few ten thousand rows of a busy fleet, and few
// milliseconds.
inline constexpr std::int64_t kStatsStepUnits = 256;
inline constexpr std::size_t kMaxStatsTools = 50;         // most used tools
inline constexpr std::size_t kMaxFigureSeries = 30;       // series per metric; Prometheus keeps each forever
inline constexpr std::int64_t kMaxTimeUnits = 1'000'000;  // of a time before now, as in -24h

}  // namespace shepherd
