#include "api/status_map.h"

#include <array>
#include <cstddef>
#include <utility>

namespace shepherd {
namespace {

struct Row {
  ErrorCode code;
  int http;
  std::uint16_t close;
};

constexpr std::array<Row, 12> kRows{{
    {ErrorCode::invalid_argument, 400, kCloseRefused},
    {ErrorCode::unauthenticated, 401, kCloseRevoked},
    {ErrorCode::permission_denied, 403, kCloseRevoked},
    {ErrorCode::not_found, 404, kCloseTaskDeleted},
    {ErrorCode::conflict, 409, kCloseRefused},
    {ErrorCode::gone, 410, kCloseTaskDeleted},
    {ErrorCode::too_large, 413, kCloseRefused},
    {ErrorCode::unsupported_media_type, 415, kCloseRefused},
    {ErrorCode::rate_limited, 429, kCloseReconnect},
    {ErrorCode::unavailable, 503, kCloseReconnect},
    {ErrorCode::storage_full, 507, kCloseReconnect},
    {ErrorCode::internal, 500, kCloseReconnect},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].code) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "a row's index is its code");

constexpr std::pair<int, std::string_view> kTitles[] = {
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

}  // namespace

int http_status(ErrorCode code) {
  return kRows[static_cast<std::size_t>(code)].http;
}

std::uint16_t close_code(ErrorCode code) {
  return kRows[static_cast<std::size_t>(code)].close;
}

std::string_view status_title(int status) {
  for (const auto& [code, title] : kTitles) {
    if (code == status) return title;
  }
  return "Error";
}

}  // namespace shepherd
