#include "terminal/line_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/limits.h"
#include "terminal/limits.h"

namespace shepherd {
bool LineInput::take_line(std::string& line) {
  std::size_t end = pending_.find('\n', taken_);
  if (end == std::string::npos) {
    if (!ended_ || taken_ == pending_.size()) return false;
    end = pending_.size();
  }
  line.assign(pending_, taken_, end - taken_);
  if (line.ends_with('\r')) line.pop_back();
  taken_ = std::min(end + 1, pending_.size());
  ++lines_read_;
  return true;
}

Result<std::vector<std::string>> LineInput::next(std::size_t most_lines, std::size_t most_bytes) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  while (lines.size() < most_lines && bytes < most_bytes) {
    if (std::string line; take_line(line)) {
      if (line.empty()) continue;
      bytes += line.size();
      lines.push_back(std::move(line));
      continue;
    }
    if (ended_) break;
    pending_.erase(0, taken_);
    taken_ = 0;
    if (pending_.size() > kMaxInputLineBytes) {
      return fail(ErrorCode::too_large, "line_too_long",
                  fmt::format("line {} is longer than {} bytes", lines_read_ + 1, kMaxInputLineBytes));
    }
    pollfd poll_input{descriptor_, POLLIN, 0};
    if (!lines.empty() && poll(&poll_input, 1, kInputPauseMs) == 0) break;
    std::size_t before = pending_.size();
    pending_.resize(before + 64 * kKiB);
    ssize_t got = read(descriptor_, pending_.data() + before, 64 * kKiB);
    pending_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && errno != EINTR) {
      return fail(ErrorCode::internal, "cannot_read", fmt::format("cannot read the input: {}", std::strerror(errno)));
    }
    ended_ = got == 0;
  }
  return lines;
}

}  // namespace shepherd
