// Counters for operators' alerts since this server started: money, tokens, tool calls, ended tasks. They are updated
// with each batch of the ledger, so they lag the logs slightly. After kMaxFigureSeries names (agent and model, or
// tool), further names are counted as "other".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/ledger.h"

namespace shepherd {

// Threads: any.
class AgentFigures {
 public:
  // Ignores everything before `since_ms` (rounded down to a minute), because an earlier server reported it.
  explicit AgentFigures(std::int64_t since_ms) : since_seconds_(since_ms / 60'000 * 60) {}

  void take(const LedgerBatch& batch) EXCLUDES(mutex_);
  // Removes the metrics of tools that the ledger has forgotten.
  void forget_tools(const std::vector<std::string>& names) EXCLUDES(mutex_);
  void append_prometheus(std::string& out) const EXCLUDES(mutex_);

  // Durations by bucket; the last one has no upper bound.
  static constexpr std::size_t kBounds = 5;
  struct Times {
    std::array<std::uint64_t, kBounds + 1> counts{};
    double seconds = 0;
  };

 private:
  struct ToolFigures {
    std::uint64_t calls = 0, failures = 0;
    Times times;
  };

  const std::int64_t since_seconds_;
  mutable Mutex mutex_;
  std::map<LedgerWho, LedgerAmounts> amounts_ GUARDED_BY(mutex_);
  std::map<std::string, ToolFigures> tools_ GUARDED_BY(mutex_);
  std::map<std::pair<LedgerWho, std::string>, std::uint64_t> ended_ GUARDED_BY(mutex_);  // by final state
  Times task_times_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
