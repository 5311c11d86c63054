// Which addresses are on the public internet. Threads: value.
#pragma once

#include <string_view>

namespace shepherd {

// False for loopback, private, link-local, shared, reserved, multicast and documentation addresses, also inside their
// IPv6 forms (mapped, NAT64, 6to4, Teredo), and for a text that is no address.
bool is_public_address(std::string_view address);

}  // namespace shepherd
