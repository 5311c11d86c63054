// A task as it may be shown: what its creator wrote, without the secrets in it. The raw one stays in the store, for the
// runner that clones the repository and for the callback.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "model/task.h"
#include "redact/redact.h"

namespace shepherd {

// A URL without its secrets: beside what redact() finds, the values of query members whose names tell, however short,
// and a long name before the host, which is how hosts of repositories take tokens.
std::string shown_url(const Redactor& redactor, std::string_view url);

// A task as it may be shown: every text that its creator or runner chose is redacted, names and labels too, and its
// context, which nobody is shown, left out.
Task shown_task(const Redactor& redactor, const Task& task);

}  // namespace shepherd
