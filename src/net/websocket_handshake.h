// The opening handshake of RFC 6455, seen from the server.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http.h"

namespace shepherd::net {

enum class UpgradeCheck : std::uint8_t { none, valid, wrong_version, malformed };

// Whether a request's head asks for a WebSocket, and rightly so. `none`: it does not ask.
UpgradeCheck check_upgrade(const Request& request, bool http10);

// The value of Sec-WebSocket-Accept for a client's key.
std::string websocket_accept(std::string_view key);

}  // namespace shepherd::net
