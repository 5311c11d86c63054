// What a runner says about one task: the driver's events and its own, redacted, into the outbox.
//
// Redaction comes before the spool, so what an agent printed of a secret is in no file of ours. The task's own secret
// values (a repository token, what the environment calls a key) are replaced wherever they appear.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "driver/driver.h"
#include "model/task.h"
#include "outbox/outbox.h"
#include "redact/redact.h"
#include "redact/stream_redactor.h"

namespace shepherd {

// The values of variables whose names say that they are secret (NAME=value): TOKEN, SECRET, PASSWORD, … KEY.
std::vector<std::string> secret_values(const std::vector<std::string>& environment);

// Sees each event before it is redacted and delivered. Must not wait.
using Observe = std::function<void(const DriverEvent&)>;

// Threads: any. All of them must outlive it.
class TaskEvents {
 public:
  // `repository` is the address of the task's own; links to pull requests of others are not its result.
  TaskEvents(Outbox& outbox, const Redactor& redactor, const Clock& clock, std::string repository = "",
             Observe observe = {});

  void add(const DriverEvent& event) EXCLUDES(mutex_);
  // Live text, redacted as one stream for each block (stream_redactor.h); what is held back of it goes before the event
  // that finishes the block.
  void delta(const TextDelta& delta) EXCLUDES(mutex_);

  // `more` are further members of the event's data, e.g. `"stalled":true`; empty: none.
  void status(State state, std::string_view summary, std::string_view more = {});
  void log(std::string_view summary);
  void error(std::string_view code, std::string_view summary);
  void result(std::string_view summary, std::string_view data_json);
  // `detail` as DriverEvent's.
  void command_result(std::string_view id, CommandState state, std::string_view reason, std::string detail = {});

  // The newest link to a pull request that the agent's output showed; empty: none.
  std::string pr_url() const EXCLUDES(mutex_);

 private:
  void own(EventType type, std::string_view summary, std::string_view data, std::string_view event_id = {},
           std::string detail = {});
  std::string redacted(std::string json) const;
  void finish_block() REQUIRES(mutex_);
  void send_delta(std::string_view text) REQUIRES(mutex_);

  Outbox& outbox_;
  const Redactor& redactor_;
  const Clock& clock_;
  const std::string repository_;
  const Observe observe_;
  mutable Mutex mutex_;
  std::string pr_url_ GUARDED_BY(mutex_);
  std::string block_ GUARDED_BY(mutex_);  // that is being written; empty: none
  StreamRedactor block_text_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
