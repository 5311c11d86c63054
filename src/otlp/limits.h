// The bounds of otlp, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxOtlpBytes = 8 * kMiB;  // a request, inflated: exporters send 512 records at a time
inline constexpr std::size_t kMaxOtlpRecords =
    5'000;  // of one request: each is at most two events, and 10,000 are appended at once
inline constexpr std::size_t kMaxOtlpAttributes = 256;       // of one record; exporters drop what is above 128
inline constexpr std::size_t kMaxOtlpNesting = 16;           // of a value inside an attribute; deeper ones become null
inline constexpr std::size_t kMaxOtlpIdBytes = 16;           // of a trace or span; longer ones are none
inline constexpr std::size_t kMaxOtlpRatio = 200;            // inflated to sent bytes; telemetry reaches about 20
inline constexpr std::size_t kOtlpRatioFreeBytes = kMiB;     // below this size any ratio is taken
inline constexpr std::size_t kInflateStepBytes = 64 * kKiB;  // inflated at a time, before the bounds are looked at

}  // namespace shepherd
