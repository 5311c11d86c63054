// The secret that signs callbacks: a file that only its owner can read, created at the first start. Receivers need a
// copy of it.
// Threads: value.
#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"

namespace shepherd {

inline constexpr const char* kCallbackSecretFile = "callback.secret";  // in the data directory

// Returns the file's first line; if there is no file, creates it with "whsec_" and 32 random bytes in base64.
// unavailable/callback_secret if it can be neither read nor created, or is empty.
Result<std::string> ensure_callback_secret(const std::string& path, Random& random);

}  // namespace shepherd
