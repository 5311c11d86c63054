// Makes tasks of agent sessions that are over: claude-SESSION, as hooks call them.
//
// Importing twice adds nothing, because every event has an id of its own. What was watched while it happened (streamed
// by a runner, or reported by hooks) is in the log already, in the order in which it happened: of such a session only
// the totals are added. A session that went on after its task had ended goes on in another task.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/task_import.h"
#include "client/api_client.h"
#include "driver/claude/transcript.h"

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

  // ended false: the session may still be going on, so its task stays open.
  Result<Done> session(const ImportedSession& session, bool ended);

 private:
  struct Known {
    std::string task, source;  // source: the label that hooks and imports give
    bool ended = false;
  };
  Result<void> learn();
  Result<Done> add_totals(const Known& known, const ImportedSession& session);
  Result<std::int64_t> last_time(const std::string& task);
  Result<Done> add_events(const std::string& task, const ImportedSession& session, std::int64_t after_ms, bool ended);
  Result<std::uint64_t> post(const std::string& task, const std::vector<const DriverEvent*>& events);

  ApiClient& client_;
  bool learned_ = false;
  std::map<std::string, Known> sessions_;  // by the agent's id: its newest task
};

}  // namespace shepherd
