// The opening handshake of RFC 6455 on the server's side.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http.h"

namespace shepherd::net {

enum class UpgradeCheck : std::uint8_t { none, valid, wrong_version, malformed };

// Whether a request's head is a valid request for a WebSocket. `none` if it does not request one.
UpgradeCheck check_upgrade(const Request& request, bool http10);

// The value of Sec-WebSocket-Accept for a client's key.
std::string websocket_accept(std::string_view key);

}  // namespace shepherd::net
