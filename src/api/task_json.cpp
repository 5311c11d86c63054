#include "api/task_json.h"

#include "model/shown_task.h"
#include "model/wire_json.h"

namespace shepherd {

void append_task_json(std::string& out, const Task& task, Steering& steering, const Redactor* redactor) {
  // What becomes of a queued task depends on who is connected now, which its log does not know.
  std::string waiting = task.state.state == State::queued ? steering.claims().why_waiting(task.spec) : std::string();
  if (redactor == nullptr && waiting.empty()) {
    append_task(out, task);
  } else {
    Task shown = redactor == nullptr ? task : shown_task(*redactor, task);
    if (redactor != nullptr) waiting = redactor->redact(waiting);  // it names the runner and agent that were asked for
    if (!waiting.empty()) shown.state.message += (shown.state.message.empty() ? "" : "; ") + waiting;
    append_task(out, shown);
  }
  if (task.spec.callback_url.empty()) return;
  CallbackRecord record = steering.callbacks().find(task.spec.id).value_or(CallbackRecord{});
  out.back() = ',';  // the object goes on
  out += R"("callback":)";
  out += encode_callback(record);
  out += '}';
}

}  // namespace shepherd
