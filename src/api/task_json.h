// A task as the API shows it: what the model knows, and how far its callback has come.
// Threads: any.
#pragma once

#include <string>

#include "model/task.h"
#include "steering/steering.h"

namespace shepherd {

void append_task_json(std::string& out, const Task& task, Steering& steering);

}  // namespace shepherd
