#include "api/task_json.h"

#include "model/shown_task.h"
#include "model/wire_json.h"

namespace shepherd {

void append_task_json(std::string& out, const Task& task, Steering& steering, const Redactor* redactor) {
  // Why a queued task waits depends on the connected runners, which its log does not contain.
  std::string waiting = task.state.state == State::queued ? steering.claims().why_waiting(task.spec) : std::string();
  if (redactor == nullptr && waiting.empty()) {
    append_task(out, task);
  } else {
    Task shown = redactor == nullptr ? task : shown_task(*redactor, task);
    if (redactor != nullptr) waiting = redactor->redact(waiting);  // it names the requested runner and agent
    if (!waiting.empty()) shown.state.message += (shown.state.message.empty() ? "" : "; ") + waiting;
    append_task(out, shown);
  }
  if (task.spec.callback_url.empty()) return;
  CallbackRecord record = steering.callbacks().find(task.spec.id).value_or(CallbackRecord{});
  out.back() = ',';  // the object continues
  out += R"("callback":)";
  out += encode_callback(record);
  out += '}';
}

}  // namespace shepherd
