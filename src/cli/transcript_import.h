// Creates tasks from past agent sessions, named AGENT-SESSION like those of hooks.
//
// Importing twice adds nothing, because every event has its own id. The log of a session that was watched live
// (streamed by a runner, or reported by hooks) already has its events in order, so only the totals are added. If a
// session continued after its task had ended, the rest becomes another task.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/task_import.h"
#include "client/api_client.h"
#include "driver/imported_session.h"

namespace shepherd {

class TranscriptImport {
 public:
  explicit TranscriptImport(ApiClient& client) : client_(client) {}

  enum class Outcome { imported, unchanged, totals, empty };
  struct Done {
    Outcome outcome = Outcome::empty;
    std::string task;
    std::uint64_t added = 0;
  };

  // If `ended` is false, the session may still be active, so its task stays open.
  Result<Done> session(const ImportedSession& session, bool ended);

 private:
  struct Known {
    std::string task, source;  // source: the label set by hooks and imports
    bool ended = false;
  };
  Result<void> learn();
  Result<Done> add_totals(const Known& known, const ImportedSession& session);
  Result<std::int64_t> last_time(const std::string& task);
  Result<Done> add_events(const std::string& task, const ImportedSession& session, std::int64_t after_ms, bool ended);
  Result<std::uint64_t> post(const std::string& task, const std::vector<const DriverEvent*>& events);

  ApiClient& client_;
  bool learned_ = false;
  std::map<std::string, Known> sessions_;  // by the agent's session id: its newest task
};

}  // namespace shepherd
