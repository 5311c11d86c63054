#include "bench/written_log.h"

#include <chrono>
#include <thread>
#include <utility>

#include "bench/interrupt.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr double kIndexSeconds = 300;

}  // namespace

Result<WrittenLog> write_log(ShepherdServer& server, std::uint64_t events, std::size_t publishers) {
  Result<std::vector<std::string>> tasks = server.create_tasks(1);
  if (!tasks) return fail(tasks.error());
  Result<LoadResult> load = write_to(server, tasks->front(), events, publishers);
  if (!load) return fail(load.error());
  return WrittenLog{tasks->front(), std::move(*load)};
}

Result<LoadResult> write_to(ShepherdServer& server, const std::string& task, std::uint64_t events,
                            std::size_t publishers) {
  LoadPlan plan = server.plan_for({task}, {.publishers = publishers, .batch = 16});
  plan.warmup_seconds = 0;
  plan.seconds = 600;
  plan.max_events = events;
  return run_load(std::move(plan));
}

Result<void> wait_for_index(ShepherdServer& server) {
  std::uint64_t deadline = steady_ns() + seconds_as_ns(kIndexSeconds);
  while (steady_ns() < deadline) {
    if (Result<void> going = check_interrupt(); !going) return going;
    Result<double> written = server.metric("shepherd_events_appended_total");
    Result<double> indexed = server.metric("shepherd_search_indexed_position");
    if (!written) return fail(written.error());
    if (!indexed) return fail(indexed.error());
    if (*indexed >= *written) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(ErrorCode::unavailable, "index_behind", "the search index did not catch up with the log");
}

}  // namespace shepherd::bench
