// The secret that signs callbacks: a file that its owner alone can read, made at the first start. A receiver
// of callbacks needs a copy of it.
// Threads: value.
#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"

namespace shepherd {

inline constexpr const char* kCallbackSecretFile = "callback.secret";  // in the data directory

// The file's first line; when there is no file it is made, with "whsec_" and 32 random bytes in base64.
// unavailable/callback_secret when it can be neither read nor made, or is empty.
Result<std::string> ensure_callback_secret(const std::string& path, Random& random);

}  // namespace shepherd
