#include "terminal/byte_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace shepherd {

Result<ByteInput> ByteInput::open(const std::string& file) {
  if (file.empty() || file == "-") return ByteInput(STDIN_FILENO);
  int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) return ByteInput(descriptor);
  return fail(ErrorCode::invalid_argument, "unreadable_file",
              fmt::format("cannot read {}: {}", file, std::strerror(errno)));
}

ByteInput::ByteInput(ByteInput&& other) noexcept : descriptor_(std::exchange(other.descriptor_, STDIN_FILENO)) {}

ByteInput::~ByteInput() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

Result<std::string_view> ByteInput::next() {
  ssize_t got = 0;
  while ((got = ::read(descriptor_, buffer_.data(), buffer_.size())) < 0 && errno == EINTR) {
  }
  if (got < 0) return fail(ErrorCode::internal, "read_failed", fmt::format("reading failed: {}", std::strerror(errno)));
  return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
}

}  // namespace shepherd
