// Bytes with a shared owner that keeps them alive. Feeds hand them to connections without copying.
// Threads: value.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace shepherd {

struct ByteSpan {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

inline ByteSpan own_bytes(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  std::string_view bytes = *owner;
  return {std::move(owner), bytes};
}

}  // namespace shepherd
