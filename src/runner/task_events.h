// A runner's events about one task: redacts the driver's events and its own and passes them on.
//
// Redaction comes before the spool, so no file of ours has a secret that an agent printed. The task's own secret values
// (a repository token, environment variables named as keys) are replaced wherever they appear.
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
#include "outbox/event_out.h"
#include "redact/redact.h"
#include "redact/stream_redactor.h"

namespace shepherd {

// The values of variables (NAME=value) with secret-sounding names: TOKEN, SECRET, PASSWORD, … KEY.
std::vector<std::string> secret_values(const std::vector<std::string>& environment);

// Called with each event before it is redacted and delivered. Must not block.
using Observe = std::function<void(const DriverEvent&)>;

// Threads: any. All of them must outlive it.
class TaskEvents {
 public:
  // `repository` is the address of the task's own repository; links to pull requests of others are not its result.
  TaskEvents(EventOut& out, const Redactor& redactor, const Clock& clock, std::string repository = "",
             Observe observe = {});

  void add(const DriverEvent& event) EXCLUDES(mutex_);
  // Adds live text, redacted as one stream per block (stream_redactor.h); held-back text precedes the event that
  // finishes the block.
  void delta(const TextDelta& delta) EXCLUDES(mutex_);

  // `more` are additional members of the event's data, e.g. `"stalled":true`; may be empty.
  void status(State state, std::string_view summary, std::string_view more = {});
  void log(std::string_view summary);
  void error(std::string_view code, std::string_view summary);
  void result(std::string_view summary, std::string_view data_json);
  // `detail` as in DriverEvent.
  void command_result(std::string_view id, CommandState state, std::string_view reason, std::string detail = {});

  // The newest link to a pull request in the agent's output; empty if there is none.
  std::string pr_url() const EXCLUDES(mutex_);

 private:
  void own(EventType type, std::string_view summary, std::string_view data, std::string_view event_id = {},
           std::string detail = {});
  std::string redacted(std::string json) const;
  void finish_block() REQUIRES(mutex_);
  void send_delta(std::string_view text) REQUIRES(mutex_);

  EventOut& out_;
  const Redactor& redactor_;
  const Clock& clock_;
  const std::string repository_;
  const Observe observe_;
  mutable Mutex mutex_;
  std::string pr_url_ GUARDED_BY(mutex_);
  std::string block_ GUARDED_BY(mutex_);  // the current block; empty if there is none
  StreamRedactor block_text_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
