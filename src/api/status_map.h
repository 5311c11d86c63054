// The table of HTTP statuses and WebSocket close codes for each error code.
// Threads: value.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace shepherd {

// Our WebSocket close codes. 4000-4099: reconnect with your cursor. 4100-4199: do not.
inline constexpr std::uint16_t kCloseDone = 1000;
inline constexpr std::uint16_t kCloseShutdown = 1001;
inline constexpr std::uint16_t kCloseReconnect = 4000;
inline constexpr std::uint16_t kCloseRefused = 4100;
inline constexpr std::uint16_t kCloseRevoked = 4101;
inline constexpr std::uint16_t kCloseTaskDeleted = 4102;

int http_status(ErrorCode code);
std::uint16_t close_code(ErrorCode code);
std::string_view status_title(int status);  // "Not Found"; "Error" for statuses that the API never sends

}  // namespace shepherd
