// Time is passed in. Wall time is milliseconds since 1970 UTC; steady time only measures spans.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// Threads: any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t wall_ms() const = 0;
  virtual std::int64_t steady_ms() const = 0;
};

// The machine's clocks. When the machine's clock steps back a little, wall_ms() stands still until real time has caught
// up, so receivedAt stays ordered. A larger jump is followed once it has lasted (base/wall_filter.h).
class SystemClock final : public Clock {
 public:
  std::int64_t wall_ms() const override;
  std::int64_t steady_ms() const override;

  // Feeds one reading of the machine's clock through the rule above; wall_ms() is this with the real reading.
  std::int64_t never_back(std::int64_t reading_ms) const;

 private:
  mutable std::atomic<std::int64_t> newest_ms_{0};
};

// A clock that a test moves by hand.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t start_ms = 1'700'000'000'000) : now_ms_(start_ms) {}
  std::int64_t wall_ms() const override { return now_ms_; }
  std::int64_t steady_ms() const override { return now_ms_; }
  void advance_ms(std::int64_t by) { now_ms_ += by; }

 private:
  std::atomic<std::int64_t> now_ms_;
};

// "2026-02-18T14:00:00.123Z": RFC 3339, UTC, milliseconds, always 24 characters for years 0000-9999.
std::string format_timestamp(std::int64_t wall_ms);
void append_timestamp(std::string& out, std::int64_t wall_ms);

// Any RFC 3339 time (offset, any number of fraction digits); the fraction is cut to milliseconds.
Result<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace shepherd
