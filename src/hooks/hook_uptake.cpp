#include "hooks/hook_uptake.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "client/limits.h"
#include "hooks/hook_delivery.h"
#include "hooks/hook_spool.h"

namespace shepherd {

HookUptake::HookUptake(std::string data)
    : thread_([data = std::move(data)](const std::stop_token& stop) { run(stop, data); }) {}

void HookUptake::run(const std::stop_token& stop, const std::string& data) {
  std::mutex mutex;  // protects nothing; a stop token only wakes waits that hold a lock
  std::condition_variable_any stopped;
  bool told = false;
  for (auto pause = kReconnectFirst; !stop.stop_requested(); pause = std::min(2 * pause, kReconnectMost)) {
    Result<std::uint64_t> calls = deliver_hook_calls(own_hook_route(data), stop);
    if (calls && *calls > 0) log_info("{} hook calls that had waited were delivered", *calls);
    if (HookSpool(data).empty()) return;
    if (!calls && !std::exchange(told, true)) {
      log_warn("hook calls that wait cannot be delivered yet: {}", calls.error().message);
    }
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace shepherd
