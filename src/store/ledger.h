// The ledger keeps figures over all logs: money, tokens, events and tool calls by time, when each task was active, and
// where findings are. A background thread builds it from the store after the commit, like the search index. It outlives
// the events: when retention drops them, their cost stays known. For a deleted task it keeps sums by agent and model,
// but not the task's id nor the names of tools that no other task called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct LedgerAmounts {
  std::int64_t nano_usd = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0;
  std::uint64_t events = 0, errors = 0, tool_calls = 0, failed = 0;  // failed: number of tasks that failed

  LedgerAmounts& operator+=(const LedgerAmounts& other);
};

// The agent and model that an amount belongs to; empty if unknown.
struct LedgerWho {
  std::string agent, model;
  friend auto operator<=>(const LedgerWho&, const LedgerWho&) = default;
};

// Calls of one tool. Durations are counted in classes (time_class), which is precise enough for percentiles.
struct ToolUse {
  std::uint64_t calls = 0, failures = 0;
  std::map<int, std::uint64_t> times;
};
int time_class(std::int64_t ms);     // four classes per factor of two
double time_of_class(int of_class);  // middle of the class, in milliseconds

// From a task's first event to its end.
struct TaskSpan {
  std::string task;
  LedgerWho who;
  std::int64_t begun_ms = 0;
  std::int64_t ended_ms = 0;  // 0: still active
};

// The number of tasks of one key that were active in the same steps of a range, first through last.
struct RunningTasks {
  std::string key;
  std::size_t first = 0, last = 0;
  bool open = false;  // they are still under way
  std::uint64_t count = 0;
};

struct FindingPlace {
  std::uint64_t position = 0;
  std::string task;
  std::uint64_t sequence = 0;
  std::string severity;
};

// How a task ended; the ledger stores it as a span.
struct EndedTask {
  LedgerWho who;
  std::string state;
  std::int64_t begun_ms = 0, ended_ms = 0;
};

struct LedgerBatch {
  std::uint64_t through = 0;                                            // newest position in this batch
  std::map<std::pair<std::int64_t, LedgerWho>, LedgerAmounts> amounts;  // by the first second of a minute
  std::map<std::pair<std::int64_t, std::string>, ToolUse> tools;        // the same, by tool
  std::set<std::pair<std::string, std::string>> tool_tasks;             // a tool and a task that called it
  std::vector<TaskSpan> spans;                                          // each replaces the task's earlier span
  std::vector<EndedTask> ended;
  std::vector<FindingPlace> findings;
  std::map<std::string, std::string> states;  // a task's fold at `through`; empty: the task has ended
  std::vector<std::string> forgotten;         // deleted tasks: their texts are erased, their cost stays
};

// A range that starts on a multiple of this, with steps of such multiples, is the fastest to read.
inline constexpr std::int64_t kLedgerCoarseSeconds = 900;

struct LedgerRange {
  enum class By : std::uint8_t { none, agent, model };
  std::int64_t from = 0, to = 0;  // seconds since 1970, `to` excluded
  std::int64_t step = 60;         // seconds; a multiple of 60
  By by = By::none;
};

// Milliseconds since 1970, `to` excluded.
struct EndedIn {
  std::int64_t from_ms = 0, to_ms = 0;
};

struct FindingFilter {
  std::string severity{}, task{};  // empty: any
  std::uint64_t before = 0;        // positions below this; 0: from the newest
  std::size_t limit = 100;
};

// What trim() keeps. Times are in seconds since 1970.
struct LedgerKeep {
  std::int64_t minutes_from = 0;    // start of figures by the minute; older ones are by the quarter of an hour
  std::int64_t from = 0;            // start of all figures and of ended tasks
  std::uint64_t findings_from = 0;  // a position
  std::uint64_t bytes = 0;          // above this size, trim() also drops the oldest days; 0: no bound
};

// An interface, so that its writers and readers do not depend on SQLite.
// Threads: add(), trim() and purge() from one thread at a time; the rest from any.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // Adds the batch and remembers `through`, in one transaction. Returns the tools that only forgotten tasks have
  // called: they are not in it any more.
  virtual Result<std::vector<std::string>> add(const LedgerBatch& batch) = 0;
  // Overwrites the texts of forgotten tasks in the file too. Takes as long as rewriting the whole file.
  virtual Result<void> purge() = 0;
  // Drops some of what is due, in one short transaction. Returns true if more is due.
  virtual Result<bool> trim(const LedgerKeep& keep) = 0;
  virtual Result<std::uint64_t> kept_through() const = 0;
  virtual Result<std::vector<std::string>> tasks() const = 0;  // ids of the tasks in the ledger
  // The time from which figures by the minute are complete, in seconds since 1970; 0: always.
  virtual Result<std::int64_t> minutes_from() const = 0;
  virtual Result<std::string> state(const std::string& task) const = 0;  // empty: none

  // The amounts between from and to, by key and step; the step at (from + i * step) has index i.
  using Curves = std::map<std::pair<std::string, std::size_t>, LedgerAmounts>;
  virtual Result<Curves> amounts(const LedgerRange& range) const = 0;
  virtual Result<std::map<std::string, ToolUse>> tools(const LedgerRange& range) const = 0;
  // Of the tasks that were active at any time in the range: those that ended then, or those that are still open.
  virtual Result<std::vector<RunningTasks>> running(const LedgerRange& range,
                                                    const std::optional<EndedIn>& ended) const = 0;
  virtual Result<std::int64_t> newest_end_ms() const = 0;  // 0: no task has ended
  // Newest first.
  virtual Result<std::vector<FindingPlace>> findings(const FindingFilter& filter) const = 0;
};

}  // namespace shepherd
