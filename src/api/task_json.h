// A task as the API shows it: the model's JSON, without secrets, with the state of its callback.
// Threads: any.
#pragma once

#include <string>

#include "model/task.h"
#include "redact/redact.h"
#include "steering/steering.h"

namespace shepherd {

// With a nullptr `redactor`, nothing is redacted.
void append_task_json(std::string& out, const Task& task, Steering& steering, const Redactor* redactor);
// The same for lists and updates, without the payload.
void append_row_json(std::string& out, const TaskRow& row, Steering& steering, const Redactor* redactor);

}  // namespace shepherd
