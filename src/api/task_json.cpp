#include "api/task_json.h"

#include "model/shown_task.h"
#include "model/wire_json.h"

namespace shepherd {

void append_task_json(std::string& out, const Task& task, Steering& steering, const Redactor* redactor) {
  append_task(out, redactor == nullptr ? task : shown_task(*redactor, task));
  if (task.spec.callback_url.empty()) return;
  CallbackRecord record = steering.callbacks().find(task.spec.id).value_or(CallbackRecord{});
  out.back() = ',';  // the object goes on
  out += R"("callback":)";
  out += encode_callback(record);
  out += '}';
}

}  // namespace shepherd
