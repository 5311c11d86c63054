// The header that names a runner's lease: `Shepherd-Lease: EPOCH`.
// Threads: value.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "net/http.h"

namespace shepherd {

// Returns nullopt if there is none. invalid_argument/bad_lease.
inline Result<std::optional<std::uint64_t>> lease_header(const net::Request& request) {
  std::string_view text = request.header("shepherd-lease");
  if (text.empty()) return std::nullopt;
  std::uint64_t epoch = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (error == std::errc() && end == text.data() + text.size()) return epoch;
  return fail(ErrorCode::invalid_argument, "bad_lease", "Shepherd-Lease must be the lease's epoch, a whole number.");
}

}  // namespace shepherd
