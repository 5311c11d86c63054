// What the logs add up to: money, tokens, events and tool calls by time, when each task was under way,
// and where findings are. Built behind the commit from the store, like the search index. It outlives the events: when
// retention drops them, what they cost stays known. Of a deleted task it keeps sums by agent and model, but neither its
// id nor the names of tools that no other task has called.
#pragma once

#include <cstdint>
#include <map>
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
  std::uint64_t events = 0, errors = 0, tool_calls = 0, failed = 0;  // failed: tasks that ended so

  LedgerAmounts& operator+=(const LedgerAmounts& other);
};

// Whose it is. Either may be empty: not known.
struct LedgerWho {
  std::string agent, model;
  friend auto operator<=>(const LedgerWho&, const LedgerWho&) = default;
};

// Calls of one tool. Times are counted by class (time_class), which is exact enough for percentiles.
struct ToolUse {
  std::uint64_t calls = 0, failures = 0;
  std::map<int, std::uint64_t> times;
};
int time_class(std::int64_t ms);     // four for every doubling
double time_of_class(int of_class);  // its middle, in milliseconds

// From a task's first event to its end.
struct TaskSpan {
  std::string task;
  LedgerWho who;
  std::int64_t begun_ms = 0;
  std::int64_t ended_ms = 0;  // 0: still under way
};

// Tasks of one key that were under way in the same steps of a range, first through last.
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

// How a task ended; the ledger itself keeps it as a span.
struct EndedTask {
  LedgerWho who;
  std::string state;
  std::int64_t begun_ms = 0, ended_ms = 0;
};

struct LedgerBatch {
  std::uint64_t through = 0;                                            // the newest position in it
  std::map<std::pair<std::int64_t, LedgerWho>, LedgerAmounts> amounts;  // by time: a minute's first second
  std::map<std::pair<std::int64_t, std::string>, ToolUse> tools;        // the same, by tool
  std::set<std::pair<std::string, std::string>> tool_tasks;             // a tool, and a task that called it
  std::vector<TaskSpan> spans;                                          // each replaces the task's earlier one
  std::vector<EndedTask> ended;
  std::vector<FindingPlace> findings;
  std::map<std::string, std::string> states;  // a task's fold at `through`; empty: it has ended
  std::vector<std::string> forgotten;         // deleted tasks: their words go, what they cost stays
};

// A range that begins on a multiple of this, in steps of such multiples, is the quickest to read.
inline constexpr std::int64_t kLedgerCoarseSeconds = 900;

struct LedgerRange {
  enum class By : std::uint8_t { none, agent, model };
  std::int64_t from = 0, to = 0;  // seconds since 1970, `to` excluded
  std::int64_t step = 60;         // seconds; a multiple of 60
  By by = By::none;
};

struct FindingFilter {
  std::string severity{}, task{};  // empty: any
  std::uint64_t before = 0;        // positions below it; 0: from the newest
  std::size_t limit = 100;
};

// What trim() leaves. Times are in seconds since 1970.
struct LedgerKeep {
  std::int64_t minutes_from = 0;    // figures by the minute; older ones are known by the quarter of an hour alone
  std::int64_t from = 0;            // any figures, and tasks that ended since
  std::uint64_t findings_from = 0;  // a position
  std::uint64_t bytes = 0;          // while it is larger, the oldest days go too; 0: no bound
};

// An interface, so that its writers and readers do not depend on SQLite.
// Threads: add(), trim() and purge() from one thread at a time; the rest from any.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // Adds the batch and remembers `through`, in one transaction. Returns the tools that only forgotten tasks have
  // called: they are not in it any more.
  virtual Result<std::vector<std::string>> add(const LedgerBatch& batch) = 0;
  // After tasks were forgotten: their words are overwritten in the file, too. Takes as long as writing all of it again.
  virtual Result<void> purge() = 0;
  // Drops some of what is due, in one short transaction; true: there is more.
  virtual Result<bool> trim(const LedgerKeep& keep) = 0;
  virtual Result<std::uint64_t> kept_through() const = 0;
  virtual Result<std::vector<std::string>> tasks() const = 0;  // that it knows by their ids
  // Figures by the minute are complete from here on: seconds since 1970; 0: always.
  virtual Result<std::int64_t> minutes_from() const = 0;
  virtual Result<std::string> state(const std::string& task) const = 0;  // empty: none

  // What was added between from and to, by key and step: (from + i * step) has index i.
  using Curves = std::map<std::pair<std::string, std::size_t>, LedgerAmounts>;
  virtual Result<Curves> amounts(const LedgerRange& range) const = 0;
  virtual Result<std::map<std::string, ToolUse>> tools(const LedgerRange& range) const = 0;
  // Tasks that were under way at some time in the range.
  virtual Result<std::vector<RunningTasks>> running(const LedgerRange& range) const = 0;
  // Newest first.
  virtual Result<std::vector<FindingPlace>> findings(const FindingFilter& filter) const = 0;
};

}  // namespace shepherd
