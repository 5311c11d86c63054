// Recreates tasks and their logs from the NDJSON of `shepherd export`: a line {"task":{…}}, then its events.
//
// Running it twice adds nothing. Events are posted under a strict producer whose name is derived from the task and its
// first event, so the server recognises repeats. If the task already exists with its own log, the logs are compared:
// equal events are accepted (an export imported where it came from), different ones are conflict/other_log.
//
// An import is a record and triggers no work: the task has no agent and no runner, and the label `imported` names its
// original agent. A task that had not ended is closed as cancelled.
//
// Other differences from the original: createdAt and receivedAt (the server's clock), the numbers of a log whose
// beginning retention had removed (they start at 1), and events that only a server may write (`command`), which become
// `imported_command`. Events after a task's end are imported before it, because the end closes a log.
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
  std::uint64_t events = 0;  // events read
  std::uint64_t added = 0;   // events that are new to the server
};

// Threads: caller.
class TaskImport {
 public:
  explicit TaskImport(ApiClient& client) : client_(client) {}

  Result<void> line(std::string_view text);
  Result<void> finish();  // posts the rest; call it once, at the end
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

  // The current task; empty before the first one.
  std::string task_;
  std::uint64_t there_before_ = 0;  // events that its log already had
  bool begun_ = false;              // the first event was seen
  bool comparing_ = false;          // the log is not from this import, so nothing is posted
  bool foreign_ = false;            // the task existed with a different request
  std::string last_time_;           // of the newest event in the file, or of the task
  std::uint64_t number_ = 0;        // newest producer number
  std::string producer_;
  std::string end_;  // members of the terminal status, posted last
  std::string batch_;
  std::size_t batch_events_ = 0;
  LogPage page_;  // when comparing: the current page of the log
  std::size_t page_used_ = 0;
  std::string page_after_ = "0";
};

}  // namespace shepherd
