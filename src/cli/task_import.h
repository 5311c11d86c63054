// Recreates tasks and their logs from NDJSON as `shepherd export` writes it: a line {"task":{…}}, then its events.
//
// Running it twice adds nothing. Events go in under a strict producer whose name follows from the task and its first
// event, so the server itself knows what it has. A task that is already there with a log of its own is compared
// instead: the same events are fine (an export imported where it came from), others are conflict/other_log.
//
// What comes in is a record, and makes nobody work: a task without agent and runner, with the label `imported` that
// names the agent it had. One that had not ended is closed as cancelled.
//
// What else differs from the original: createdAt and receivedAt (the server's clock), the numbers of a log whose
// beginning retention had removed (they begin at 1), and events that only a server may write (`command`), which come
// in as `imported_command`. Events that followed a task's end come in before it, because the end closes a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"

namespace shepherd {

struct ImportTotals {
  std::uint64_t tasks = 0;
  std::uint64_t events = 0;  // read
  std::uint64_t added = 0;   // new to the server
};

// Threads: caller.
class TaskImport {
 public:
  explicit TaskImport(ApiClient& client) : client_(client) {}

  Result<void> line(std::string_view text);
  Result<void> finish();  // posts what is left; call it once, at the end
  const ImportTotals& totals() const { return totals_; }

 private:
  Result<void> begin_task(std::string_view source);
  Result<void> event(std::string_view source);
  Result<void> begin_log(std::string_view first_event);
  Result<void> compare(std::string_view source);
  Result<void> queue(std::string_view members);
  Result<void> post();
  Result<void> end_task();

  ApiClient& client_;
  ImportTotals totals_;

  // The current task; empty before the first.
  std::string task_;
  std::uint64_t there_before_ = 0;  // events its log had
  bool begun_ = false;              // the first event was seen
  bool comparing_ = false;          // the log is somebody else's: nothing is posted
  bool foreign_ = false;            // the task was there with other words
  std::string last_time_;           // of the newest event in the file, or of the task
  std::uint64_t number_ = 0;        // newest producer number
  std::string producer_;
  std::string end_;  // members of the terminal status, kept for last
  std::string batch_;
  std::size_t batch_events_ = 0;
  LogPage page_;  // comparing: the log's events from page_first_ on
  std::size_t page_used_ = 0;
  std::string page_after_ = "0";
};

}  // namespace shepherd
