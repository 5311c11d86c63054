// Calls of hooks that wait on disk for a server. The agent waits only for the append; one process at a time delivers.
//
// Two files in the data directory: calls are appended to one, and what is being delivered is in the other. They stay in
// order, and a call is removed only after the server has it; a crash in between sends it again, which is harmless.
// Bounded: over kHookSpoolBytes new calls are refused, counted in a third file, and what was lost is delivered behind
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
  // For the server of this data directory, or for one that the hooks name: nobody but hooks knows which that is.
  enum class For : std::uint8_t { own_server, named_server };
  explicit HookSpool(const std::string& directory, For whom = For::own_server);

  // One call: a JSON object. storage_full/spool_full when there is no room; it is counted as lost.
  Result<void> append(std::string_view call);

  // Hands the waiting calls to `send` in order, in batches, until none is left, also ones that come meanwhile. An error
  // of `send` ends it and keeps the batch. Does nothing while another process delivers: that one takes ours too.
  using Send = std::function<Result<void>(const std::vector<std::string>& calls)>;
  Result<void> deliver(const Send& send);

  std::uint64_t waiting_bytes() const;
  bool empty() const;  // nothing to deliver, lost calls among it

 private:
  class Lock;
  void count_lost(std::string_view call);
  Result<bool> next_segment(Lock& delivery);  // false: nothing is left
  Result<void> send_segment(const Send& send);

  std::string spool_, sending_, lost_, spool_lock_, delivery_lock_;
};

}  // namespace shepherd
