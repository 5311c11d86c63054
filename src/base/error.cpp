#include "base/error.h"

#include <array>

namespace shepherd {
namespace {

struct Row {
  std::string_view name;
  bool retryable;
};

constexpr std::array<Row, 12> kRows{{
    {"invalid_argument", false},
    {"unauthenticated", false},
    {"permission_denied", false},
    {"not_found", false},
    {"conflict", false},
    {"gone", false},
    {"too_large", false},
    {"unsupported_media_type", false},
    {"rate_limited", true},
    {"unavailable", true},
    {"storage_full", true},
    {"internal", false},
}};

}  // namespace

std::string_view name(ErrorCode code) {
  return kRows[static_cast<std::size_t>(code)].name;
}

bool retryable(ErrorCode code) {
  return kRows[static_cast<std::size_t>(code)].retryable;
}

}  // namespace shepherd
