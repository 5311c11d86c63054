// Who can reach the server with these settings, and whether that was asked for.
// Threads: value.
#pragma once

#include <string_view>

#include "base/result.h"
#include "config/config.h"

namespace shepherd {

// "127.0.0.1:8080", "[::1]:0" and "localhost:80" are; names and other addresses are not.
bool is_loopback(std::string_view listen);

// Refuses an address beyond loopback without TLS unless insecure_bind says so, and auth none beyond loopback unless the
// internal network is trusted. invalid_argument/exposed; the message says which flags settle it.
Result<void> check_exposure(const Config& config);

}  // namespace shepherd
