// A task as it may be shown: the creator's text without its secrets. The store keeps the original for the callback and
// for the runner that clones the repository.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "model/task.h"
#include "redact/redact.h"

namespace shepherd {

// A URL without its secrets. In addition to redact(), this hides the values of query parameters with sensitive names,
// however short, and a long user name before the host, where repository hosts accept tokens.
std::string shown_url(const Redactor& redactor, std::string_view url);

// A copy of the task in which every text that its creator or runner chose is redacted, including names and labels. The
// context is left out, because it is never shown.
Task shown_task(const Redactor& redactor, const Task& task);
TaskRow shown_row(const Redactor& redactor, const TaskRow& row);

}  // namespace shepherd
