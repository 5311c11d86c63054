// Where callbacks may go: anywhere except addresses in this machine's own surroundings. A server that posts to given
// addresses must not become a way to a cloud's metadata service.
// Threads: value.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/client.h"

namespace shepherd {

// invalid_argument/bad_callback_url: not http or https, too long, or an address that is refused.
Result<net::Url> callback_target(std::string_view url);

// Link-local, metadata, unspecified and multicast addresses, also in their IPv6 forms. Checked again at connecting for
// the resolved addresses. A text that is not an address is not refused here.
bool is_refused_address(std::string_view address);

}  // namespace shepherd
