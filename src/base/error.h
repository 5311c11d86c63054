// Expected failures, as values. The list of codes is closed: adapters translate their own errors into it.
// api/status_map maps each code to HTTP and WebSocket close codes, rpc/status_map to gRPC.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace shepherd {

enum class ErrorCode : std::uint8_t {
  invalid_argument,
  unauthenticated,
  permission_denied,
  not_found,
  conflict,
  gone,
  too_large,
  unsupported_media_type,
  rate_limited,
  unavailable,
  storage_full,
  internal,
};

std::string_view name(ErrorCode code);

// True when the same request may succeed later without a change by the caller.
bool retryable(ErrorCode code);

// A machine-readable field that an error carries in addition to its message, for example expectedSequence.
struct ErrorField {
  std::string name;
  std::variant<std::int64_t, std::string> value;
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string reason;   // stable snake_case identifier for programs: "cursor_ahead", "sequence_reused"
  std::string message;  // for a person; says what to do next
  std::vector<ErrorField> fields;

  Error&& with(std::string field, std::int64_t value) && {
    fields.push_back({std::move(field), value});
    return std::move(*this);
  }
  Error&& with(std::string field, std::string value) && {
    fields.push_back({std::move(field), std::move(value)});
    return std::move(*this);
  }
};

}  // namespace shepherd
