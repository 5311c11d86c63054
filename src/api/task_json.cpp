#include "api/task_json.h"

#include "model/shown_task.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// Why a queued task waits depends on the connected runners, which its log does not contain. The text names the
// requested runner and agent.
void add_why_waiting(TaskState& state, const TaskInfo& spec, Steering& steering, const Redactor* redactor) {
  if (state.state != State::queued) return;
  std::string waiting = steering.claims().why_waiting(spec);
  if (redactor != nullptr) waiting = redactor->redact(waiting);
  if (!waiting.empty()) state.message += (state.message.empty() ? "" : "; ") + waiting;
}

void append_callback(std::string& out, const TaskInfo& spec, Steering& steering) {
  if (spec.callback_url.empty()) return;
  CallbackRecord record = steering.callbacks().find(spec.id).value_or(CallbackRecord{});
  out.back() = ',';  // the object continues
  out += R"("callback":)";
  out += encode_callback(record);
  out += '}';
}

}  // namespace

void append_task_json(std::string& out, const Task& task, Steering& steering, const Redactor* redactor) {
  Task shown = redactor == nullptr ? task : shown_task(*redactor, task);
  add_why_waiting(shown.state, task.spec, steering, redactor);
  append_task(out, shown);
  append_callback(out, task.spec, steering);
}

void append_row_json(std::string& out, const TaskRow& row, Steering& steering, const Redactor* redactor) {
  TaskRow shown = redactor == nullptr ? row : shown_row(*redactor, row);
  add_why_waiting(shown.state, row.spec, steering, redactor);
  append_row(out, shown);
  append_callback(out, row.spec, steering);
}

}  // namespace shepherd
