// What a session has used according to its telemetry: calls and sums of metrics, each counted once however often it
// comes.
//
// Agents export the same calls twice, as records and as metrics, and either can be switched off or be behind. Both only
// grow towards the same totals, so the larger one is what is known.
// Threads: value.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "driver/telemetry.h"
#include "driver/usage_data.h"

namespace shepherd {

class TelemetryTotals {
 public:
  // Each returns false if it changes nothing: it was counted before.
  bool add(const TelemetryCall& call);
  bool add(const TelemetrySum& sum);

  UsageData usage() const;

  // The figures of a task that were last told from here, so that others' figures are recognised.
  Usage told;
  std::int64_t newest_work_ms = 0;  // of the steps that were taken
  std::int64_t turn_end_ms = 0;     // of the newest end of a turn

  // As one JSON object; decode() of a text that is none gives empty totals.
  std::string encode() const;
  static TelemetryTotals decode(std::string_view json);

 private:
  struct Series {
    std::uint64_t start = 0, time = 0;
    double value = 0;  // of a running total
  };

  std::map<std::string, Usage> calls_, sums_;  // by model
  std::map<std::string, Series> series_;
  std::deque<std::string> seen_;  // ids of the newest calls
};

}  // namespace shepherd
