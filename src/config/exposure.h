// Checks whether these settings expose the server to other machines, and whether the configuration allows that.
// Threads: value.
#pragma once

#include <string_view>

#include "base/result.h"
#include "config/config.h"

namespace shepherd {

// True for "127.0.0.1:8080", "[::1]:0" and "localhost:80"; false for other names and addresses.
bool is_loopback(std::string_view listen);

// Refuses an address beyond loopback without TLS unless insecure_bind is set, and auth none beyond loopback unless the
// internal network is trusted. invalid_argument/exposed; the message names the flags to use.
Result<void> check_exposure(const Config& config);

}  // namespace shepherd
