// Where callbacks may go: anywhere but to addresses that only mean this machine's own surroundings. A server that posts
// to addresses from outside must not be a way to a cloud's metadata service.
// Threads: value.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/client.h"

namespace shepherd {

// invalid_argument/bad_callback_url: not http or https, too long, or an address that is refused.
Result<net::Url> callback_target(std::string_view url);

// Link-local, metadata, unspecified and multicast addresses, also in their IPv6 disguises. Asked again for what a name
// resolves to, when connecting. What is no address is not refused here.
bool is_refused_address(std::string_view address);

}  // namespace shepherd
