#include "hooks/hook_spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/limits.h"
#include "base/whole_file.h"
#include "hooks/hook_loss.h"
#include "hooks/limits.h"

namespace shepherd {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::uint64_t size_of(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

std::unexpected<Error> file_error(std::string_view what, const std::string& path) {
  return fail(ErrorCode::internal, "spool_error", fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

}  // namespace

// An exclusive lock on a file during its lifetime. Threads: value; move-only.
class HookSpool::Lock {
 public:
  // If `wait` is false, taken() tells whether the lock was free.
  Lock(const std::string& path, bool wait)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly)) {
    if (descriptor_ < 0) return;
    int done = 0;
    while ((done = ::flock(descriptor_, LOCK_EX | (wait ? 0 : LOCK_NB))) != 0 && errno == EINTR) {
    }
    if (done != 0) release();
  }
  ~Lock() { release(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  bool taken() const { return descriptor_ >= 0; }
  void release() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

HookSpool::HookSpool(const std::string& directory, For whom) {
  std::string prefix = directory + (whom == For::own_server ? "/hooks." : "/hooks-named.");
  spool_ = prefix + "spool";
  sending_ = prefix + "sending";
  lost_ = prefix + "lost";
  spool_lock_ = prefix + "spool.lock";
  delivery_lock_ = prefix + "delivery.lock";
}

std::uint64_t HookSpool::waiting_bytes() const {
  return size_of(spool_) + size_of(sending_);
}

bool HookSpool::empty() const {
  return waiting_bytes() == 0 && size_of(lost_) == 0;
}

// Requires the spool's lock. If the count cannot be stored either, it is lost with its call; append() reports the full
// disk.
void HookSpool::count_lost(std::string_view call) {
  Result<std::optional<std::string>> known = read_whole_file(lost_, kMaxHookBytes);
  std::string lines = with_lost_call(known && *known ? std::string_view(**known) : std::string_view(), call);
  std::ignore = replace_file(lost_, lines, kOwnerOnly);
}

Result<void> HookSpool::append(std::string_view call) {
  std::string line(call);
  std::ranges::replace(line, '\n', ' ');  // valid JSON has no line break inside a value
  std::ranges::replace(line, '\r', ' ');
  line.push_back('\n');
  Lock lock(spool_lock_, true);
  if (!lock.taken()) return file_error("lock", spool_lock_);
  if (waiting_bytes() + line.size() > kHookSpoolBytes) {
    count_lost(call);
    return fail(ErrorCode::storage_full, "spool_full",
                fmt::format("{} bytes of hook calls wait for a server already; this one is lost", waiting_bytes()));
  }
  int file = ::open(spool_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return file_error("open", spool_);
  // A line is written completely or removed again, because a partial line would corrupt the next one.
  off_t before = ::lseek(file, 0, SEEK_END);
  ssize_t written = ::write(file, line.data(), line.size());
  bool whole = written == static_cast<ssize_t>(line.size());
  if (!whole && ::ftruncate(file, before) != 0) whole = false;
  ::close(file);
  if (!whole) {
    auto failed = file_error("write", spool_);
    count_lost(call);
    return failed;
  }
  return {};
}

// When nothing is left, releases the delivery lock while still holding the spool lock. A process that appends
// afterwards finds it free, and a call appended before was seen here, so no call is left behind between two processes.
Result<bool> HookSpool::next_segment(Lock& delivery) {
  Lock lock(spool_lock_, true);
  if (!lock.taken()) return file_error("lock", spool_lock_);
  if (size_of(sending_) > 0) return true;
  for (const std::string& waiting : {spool_, lost_}) {
    if (size_of(waiting) == 0) continue;
    if (::rename(waiting.c_str(), sending_.c_str()) != 0) return file_error("rename", waiting);
    return true;
  }
  delivery.release();
  return false;
}

Result<void> HookSpool::send_segment(const Send& send) {
  Result<std::optional<std::string>> text = read_whole_file(sending_, kHookSpoolBytes);
  if (!text) return fail(text.error());
  std::string_view rest = *text ? std::string_view(**text) : std::string_view();
  while (!rest.empty()) {
    std::vector<std::string> batch;
    std::size_t bytes = 0;
    std::string_view after = rest;
    while (!after.empty() && batch.size() < kMaxHookBatch) {
      std::string_view line = after.substr(0, after.find('\n'));
      if (!batch.empty() && bytes + line.size() > kHookBatchBytes) break;
      if (!line.empty()) batch.emplace_back(line);
      bytes += line.size();
      after.remove_prefix(std::min(after.size(), line.size() + 1));
    }
    Result<void> sent = batch.empty() ? Result<void>() : send(batch);
    if (!sent) {
      // Removes what was delivered, so that it is not sent again.
      Result<void> kept = rest.size() == (*text)->size() ? Result<void>() : replace_file(sending_, rest, kOwnerOnly);
      return kept ? sent : kept;
    }
    rest = after;
  }
  if (::unlink(sending_.c_str()) != 0) return file_error("remove", sending_);
  return {};
}

Result<void> HookSpool::deliver(const Send& send) {
  Lock delivery(delivery_lock_, false);
  if (!delivery.taken()) return {};
  while (true) {
    Result<bool> more = next_segment(delivery);
    if (!more) return fail(more.error());
    if (!*more) return {};
    if (Result<void> sent = send_segment(send); !sent) return sent;
  }
}

}  // namespace shepherd
