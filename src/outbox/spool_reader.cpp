#include "outbox/spool_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"

namespace shepherd {

// Makes the buffer hold `bytes` bytes from next_ on.
bool SpoolReader::hold(std::size_t bytes) {
  if (end_ - next_ < static_cast<off_t>(bytes)) return false;
  if (next_ >= buffer_at_ && next_ + static_cast<off_t>(bytes) <= buffer_at_ + static_cast<off_t>(buffer_.size())) {
    return true;
  }
  std::size_t want = std::min(std::max(bytes, kSegmentBytes), static_cast<std::size_t>(end_ - next_));
  buffer_.resize(want);
  buffer_at_ = next_;
  std::size_t got = 0;
  while (got < want) {
    ssize_t piece = ::pread(file_, buffer_.data() + got, want - got, buffer_at_ + static_cast<off_t>(got));
    if (piece < 0 && errno == EINTR) continue;
    if (piece <= 0) break;
    got += static_cast<std::size_t>(piece);
  }
  buffer_.resize(got);
  return got >= bytes;
}

std::optional<SpoolRecord> SpoolReader::next() {
  if (!hold(kSpoolHeadBytes)) return std::nullopt;
  auto at = [this] { return static_cast<std::size_t>(next_ - buffer_at_); };
  auto size = record_size(std::string_view(buffer_).substr(at()));
  if (!size || !hold(kSpoolHeadBytes + *size)) return std::nullopt;
  auto record = read_record(std::string_view(buffer_).substr(at(), kSpoolHeadBytes + *size));
  if (record) next_ += static_cast<off_t>(kSpoolHeadBytes + *size);
  return record;
}

}  // namespace shepherd
