// Reads the bytes of a file, or of standard input, as they arrive.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"

namespace shepherd {

// Owns the descriptor unless it is standard input. Threads: caller; move-only.
class ByteInput {
 public:
  // "" and "-" are standard input. invalid_argument/unreadable_file.
  static Result<ByteInput> open(const std::string& file);
  ByteInput(ByteInput&& other) noexcept;
  ByteInput& operator=(ByteInput&&) = delete;
  ~ByteInput();

  // Returns the available bytes; empty at the end. internal/read_failed. Valid until the next call.
  Result<std::string_view> next();
  int descriptor() const { return descriptor_; }

 private:
  explicit ByteInput(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::array<char, 64 * kKiB> buffer_{};
};

}  // namespace shepherd
