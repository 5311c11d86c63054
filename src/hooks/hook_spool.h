// Hook calls that wait on disk for a server. The agent only waits for the append; one process at a time delivers.
//
// The data directory has two files: new calls are appended to one, the other holds the calls being delivered. Calls
// stay in order, and a call is removed only after the server has accepted it; a crash in between sends it again, which
// is harmless. Over kHookSpoolBytes new calls are refused and counted in a third file, and the count is delivered after
// the rest.
// Threads: caller; processes exclude each other by file locks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

class HookSpool {
 public:
  // Calls for the data directory's own server, or for a server named in the hooks' command. Only the hooks know the
  // latter.
  enum class For : std::uint8_t { own_server, named_server };
  explicit HookSpool(const std::string& directory, For whom = For::own_server);

  // Appends one call, a JSON object. storage_full/spool_full if there is no room; the call is then counted as lost.
  Result<void> append(std::string_view call);

  // Passes the waiting calls to `send` in order, in batches, until none is left, including calls that arrive meanwhile.
  // An error of `send` stops it and keeps the batch. Does nothing while another process delivers, because that process
  // takes these calls too.
  using Send = std::function<Result<void>(const std::vector<std::string>& calls)>;
  Result<void> deliver(const Send& send);

  std::uint64_t waiting_bytes() const;
  bool empty() const;  // nothing to deliver, not even a count of lost calls

 private:
  class Lock;
  void count_lost(std::string_view call);
  Result<bool> next_segment(Lock& delivery);  // false: nothing is left
  Result<void> send_segment(const Send& send);

  std::string spool_, sending_, lost_, spool_lock_, delivery_lock_;
};

}  // namespace shepherd
