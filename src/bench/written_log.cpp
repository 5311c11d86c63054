#include "bench/written_log.h"

#include <boost/json.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "bench/interrupt.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr double kIndexSeconds = 300;

Result<void> wait_until(const char* what, const std::function<Result<bool>()>& caught_up) {
  std::uint64_t deadline = steady_ns() + seconds_as_ns(kIndexSeconds);
  while (steady_ns() < deadline) {
    if (Result<void> going = check_interrupt(); !going) return going;
    Result<bool> done = caught_up();
    if (!done) return fail(done.error());
    if (*done) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(ErrorCode::unavailable, "behind", std::string(what) + " did not catch up with the log");
}

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
  return wait_until("the search index", [&]() -> Result<bool> {
    Result<double> written = server.metric("shepherd_events_appended_total");
    if (!written) return fail(written.error());
    Result<double> indexed = server.metric("shepherd_search_indexed_position");
    if (!indexed) return fail(indexed.error());
    return *indexed >= *written;
  });
}

Result<void> wait_for_ledger(ShepherdServer& server) {
  return wait_until("the ledger", [&]() -> Result<bool> {
    Result<HttpAnswer> stats = server.get("/api/v1/stats?from=-1h");
    if (!stats) return fail(stats.error());
    boost::system::error_code error;
    boost::json::value answer = boost::json::parse(stats->body, error);
    if (error || !answer.is_object()) return false;
    const boost::json::object& figures = answer.as_object();
    return figures.contains("head") && figures.at("head") == figures.at("indexedThrough");
  });
}

}  // namespace shepherd::bench
