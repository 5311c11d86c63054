// A task as the API shows it: what the model knows, without secrets, and how far its callback has come.
// Threads: any.
#pragma once

#include <string>

#include "model/task.h"
#include "redact/redact.h"
#include "steering/steering.h"

namespace shepherd {

// `redactor` nullptr: as it was given.
void append_task_json(std::string& out, const Task& task, Steering& steering, const Redactor* redactor);

}  // namespace shepherd
