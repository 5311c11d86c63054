// A server's error answer (RFC 9457 problem details) as an Error.
// Threads: value.
#pragma once

#include <string_view>

#include "base/error.h"

namespace shepherd {

ErrorCode code_of_status(int status);

// `code` becomes the reason, `detail` (or `error`, or `title`) the message, and other members become fields. A body
// that is not a problem still gives an Error with the status.
Error read_problem(int status, std::string_view body);

}  // namespace shepherd
