#include "tools/command_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/shown_text.h"

namespace shepherd {

void CommandOutput::add(std::string_view bytes) {
  bytes_ += bytes.size();
  binary_ = binary_ || bytes.find('\0') != std::string_view::npos;
  std::size_t room = kMaxCommandHeadBytes - head_.size();
  head_.append(bytes.substr(0, room));
  bytes.remove_prefix(std::min(room, bytes.size()));
  tail_.add(bytes);
}

std::string CommandOutput::text() const {
  if (binary_) return fmt::format("[{} bytes of binary output, which are not shown]", bytes_);
  std::string_view tail = tail_.bytes();
  std::uint64_t missing = bytes_ - head_.size() - tail.size();
  if (missing == 0) return valid_text(head_ + std::string(tail));
  // The marks of bytes that are no text are longer than these.
  std::string begin(first_bytes(valid_text(head_), kMaxCommandHeadBytes));
  std::string end(last_bytes(valid_text(tail), kMaxCommandTailBytes));
  return fmt::format("{}\n[{} bytes of the output are left out here]\n{}", begin, missing, end);
}

std::string CommandOutput::last_line() const {
  std::string_view all = tail_.empty() ? head_ : tail_.bytes();
  std::size_t last = all.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  all = all.substr(0, last + 1);
  return shown_line(all.substr(all.rfind('\n') + 1), kMaxDescribedCharacters);
}

}  // namespace shepherd
