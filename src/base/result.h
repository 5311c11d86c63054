// Result<T>: a value or an Error. Expected failures travel as values; bugs assert.
// Threads: value.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/error.h"

namespace shepherd {

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string reason, std::string message) {
  return std::unexpected(Error{code, std::move(reason), std::move(message), {}});
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

}  // namespace shepherd
