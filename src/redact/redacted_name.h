// Names that producers make up and that tell one thing from another: an event's id, a producer's, a request's key. One
// with a secret in it is kept as a stand-in that is the same every time, and another one for another name: a mark would
// make one of two.
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "redact/redact.h"

namespace shepherd {

// The name itself when there is nothing to hide, or no redactor.
std::string redacted_name(std::string_view name, const Redactor* redactor);

}  // namespace shepherd
