// Reads a log over gRPC, by one caller from the store and by many callers while it grows. Compared with a bare grpc++
// server that streams the same bytes without parsing them.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <latch>
#include <optional>
#include <utility>

#include "bench/grpc_bare_server.h"
#include "bench/grpc_read.h"
#include "bench/process_usage.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"
#include "bench/written_log.h"
#include "shepherd/observability/v1/observability.pb.h"

namespace shepherd::bench {
namespace {

constexpr std::uint64_t kEvents = 200'000, kEventsQuick = 50'000;
// With many callers, each event is prepared once for all of them, like the bare server's message.
constexpr std::size_t kCallers = 32, kCallersQuick = 8;
constexpr std::uint64_t kLiveEvents = 10'000, kLiveEventsQuick = 2'000;
constexpr double kMostOfBare = 1.5;
constexpr double kStartSeconds = 20;

struct Run {
  double rate = 0, cpu_us = 0;  // messages per second; the server's CPU time per message
  Defects defects;
  bool clean = true;
};

Run run_of(std::uint64_t messages_read, double seconds, double cpu_seconds) {
  auto messages = static_cast<double>(std::max<std::uint64_t>(messages_read, 1));
  return {.rate = messages / seconds, .cpu_us = cpu_seconds / messages * 1e6, .defects = {}, .clean = true};
}

// Checks the log's numbers, which must be 1, 2, 3, …
class Numbers {
 public:
  void see(std::string_view bytes) {
    if (!event_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    caught_up_ = caught_up_ || event_.has_caught_up();
    if (event_.sequence() == 0) return;
    if (sample_.empty()) sample_ = bytes;
    auto sequence = static_cast<std::uint64_t>(event_.sequence());
    if (sequence <= last_) ++defects_.repeated;
    if (sequence > last_ + 1) defects_.missing += sequence - last_ - 1;
    last_ = std::max(last_, sequence);
  }
  Defects defects(std::uint64_t written) const {
    Defects all = defects_;
    if (last_ < written) all.missing += written - last_;
    return all;
  }
  const std::string& sample() const { return sample_; }  // one message
  std::uint64_t last() const { return last_; }
  bool caught_up() const { return caught_up_; }

 private:
  observability::v1::AgentEvent event_;
  std::string sample_;
  std::uint64_t last_ = 0;
  bool caught_up_ = false;
  Defects defects_;
};

GrpcStream stream_of(const ShepherdServer& server, const std::string& task, bool until_caught_up) {
  observability::v1::StreamEventsRequest request;
  request.add_agent_ids(task);
  request.set_until_caught_up(until_caught_up);
  return {.address = server.grpc(),
          .method = "/shepherd.observability.v1.ObservabilityService/StreamEvents",
          .request = request.SerializeAsString(),
          .metadata = {{"authorization", "Bearer " + server.token()}}};
}

Result<Run> run_shepherd(const ShepherdServer& server, const WrittenLog& log, std::string& sample) {
  Numbers numbers;
  double before = cpu_seconds(server.pid());
  auto read = read_grpc_stream(stream_of(server, log.task, true), [&](std::string_view bytes) {
    numbers.see(bytes);
    return true;
  });
  if (!read) return fail(read.error());
  Run run = run_of(read->messages, read->seconds, cpu_seconds(server.pid()) - before);
  run.defects = numbers.defects(log.load.sent_events);
  run.clean = run.defects.missing + run.defects.repeated == 0;
  sample = numbers.sample();
  return run;
}

// Runs `callers` callers concurrently; each receives the message `count` times.
Result<Run> run_bare(Process& bare, std::uint16_t port, const std::string& sample, std::uint64_t count,
                     std::size_t callers) {
  GrpcStream stream{.address = fmt::format("127.0.0.1:{}", port),
                    .method = "/bare/Repeat",
                    .request = sample,
                    .metadata = {{"count", std::to_string(count)}}};
  double before = cpu_seconds(bare.pid());
  std::uint64_t begin_ns = steady_ns();
  std::vector<std::future<Result<GrpcRead>>> reads;
  reads.reserve(callers);
  for (std::size_t i = 0; i < callers; ++i) {
    reads.push_back(std::async(std::launch::async, [&] {
      observability::v1::AgentEvent event;  // parsed like Shepherd's events
      return read_grpc_stream(stream, [&](std::string_view bytes) {
        event.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
        return true;
      });
    }));
  }
  for (auto& read : reads) {
    if (Result<GrpcRead> done = read.get(); !done) return fail(done.error());
  }
  double seconds = static_cast<double>(steady_ns() - begin_ns) / static_cast<double>(kNsPerSecond);
  return run_of(count * callers, seconds, cpu_seconds(bare.pid()) - before);
}

// Writes a log and waits for the search index. Returns the server's CPU time.
Result<double> cost_of_writing(ShepherdServer& server, const std::string& task, std::uint64_t events) {
  double before = cpu_seconds(server.pid());
  if (Result<LoadResult> load = write_to(server, task, events, 16); !load) return fail(load.error());
  if (Result<void> indexed = wait_for_index(server); !indexed) return fail(indexed.error());
  return cpu_seconds(server.pid()) - before;
}

// The callers wait at the end of an empty log, which then grows. The cost of writing such a log without callers is
// subtracted from the server's time.
Result<Run> run_live(ShepherdServer& server, std::uint64_t events, std::size_t callers) {
  Result<std::vector<std::string>> tasks = server.create_tasks(2);
  if (!tasks) return fail(tasks.error());
  Result<double> ingest = cost_of_writing(server, tasks->back(), events);
  if (!ingest) return fail(ingest.error());
  GrpcStream stream = stream_of(server, tasks->front(), false);
  std::latch waiting(static_cast<std::ptrdiff_t>(callers));
  std::vector<Numbers> numbers(callers);
  std::vector<std::future<Result<GrpcRead>>> reads;
  reads.reserve(callers);
  for (Numbers& seen : numbers) {
    reads.push_back(std::async(std::launch::async, [&] {
      bool there = false;
      auto arrive = [&] {
        if (!std::exchange(there, true)) waiting.count_down();
      };
      auto read = read_grpc_stream(stream, [&](std::string_view bytes) {
        seen.see(bytes);
        if (seen.caught_up()) arrive();
        return seen.last() < events;
      });
      arrive();  // also if it failed
      return read;
    }));
  }
  waiting.wait();
  std::uint64_t begin_ns = steady_ns();
  std::future<Result<double>> cost =
      std::async(std::launch::async, [&] { return cost_of_writing(server, tasks->front(), events); });
  std::uint64_t end_ns = begin_ns;
  std::optional<Error> failed;
  for (auto& read : reads) {
    if (Result<GrpcRead> done = read.get(); !done) failed = done.error();
    end_ns = steady_ns();
  }
  Result<double> all = cost.get();
  if (!all) return fail(all.error());
  if (failed) return fail(*failed);
  double seconds = static_cast<double>(end_ns - begin_ns) / static_cast<double>(kNsPerSecond);
  Run run = run_of(events * callers, seconds, *all - *ingest);
  for (const Numbers& seen : numbers) run.defects += seen.defects(events);
  run.clean = run.defects.missing + run.defects.repeated == 0;
  return run;
}

Row row_of(std::string id, std::string title, const std::vector<Run>& runs) {
  std::vector<double> rates, costs;
  Row row{.id = std::move(id), .title = std::move(title)};
  for (const Run& run : runs) {
    rates.push_back(run.rate);
    costs.push_back(run.cpu_us);
    row.defects += run.defects;
    row.clean = row.clean && run.clean;
  }
  row.value = median(rates);
  row.server_us = median(costs);
  return row;
}

void add_rows(Bench& bench, const std::string& id, const std::string& title, const std::vector<Run>& ours,
              const std::vector<Run>& bares, bool prepared) {
  Row limit = row_of(id + ".bare", "bare grpc++ server, the same bytes", bares);
  Row row = row_of(id + ".stream_events", title, ours);
  row.judgements.push_back(
      {.what = "x bare's time a message", .value = limit.value / row.value, .bound = kMostOfBare, .at_least = false});
  if (prepared) {
    row.judgements.push_back({.what = "x bare's CPU a message",
                              .value = *row.server_us / *limit.server_us,
                              .bound = kMostOfBare,
                              .at_least = false});
  }
  bench.report.add(std::move(limit));
  bench.report.add(std::move(row));
}

}  // namespace

// Must be the last scenario, because gRPC's threads stay in this process and the others fork.
Result<void> measure_grpc(Bench& bench) {
  bench.report.heading("gRPC: one caller reads a log that is there already");
  Cores cores = bench.options.pin ? separate_cores() : Cores{};
  Result<std::uint16_t> port = free_port();
  if (!port) return fail(port.error());
  Result<Process> bare = Process::fork_only([&] { run_bare_grpc_server(*port); }, cores.server);
  if (!bare) return fail(bare.error());
  if (Result<void> ready = wait_for_port(*bare, *port, kStartSeconds); !ready) return ready;
  Result<ShepherdServer> server = bench.start_server(false, cores.server);
  if (!server) return fail(server.error());
  Result<WrittenLog> log = write_log(*server, bench.options.quick ? kEventsQuick : kEvents, 16);
  if (!log) return fail(log.error());
  if (Result<void> done = wait_for_index(*server); !done) return done;

  PinnedTool pinned(cores.tool);
  std::size_t callers = bench.options.quick ? kCallersQuick : kCallers;
  std::uint64_t live_events = bench.options.quick ? kLiveEventsQuick : kLiveEvents;
  auto keep = [](std::vector<Run>& runs, Result<Run> run) -> Result<void> {
    if (!run) return fail(run.error());
    runs.push_back(*run);
    return {};
  };
  std::string sample;
  std::vector<Run> ours, bares;
  for (int round = 0; round < bench.rounds(); ++round) {
    if (auto done = keep(ours, run_shepherd(*server, *log, sample)); !done) return done;
    if (auto done = keep(bares, run_bare(*bare, *port, sample, log->load.sent_events, 1)); !done) return done;
  }
  add_rows(bench, "grpc", "StreamEvents, read from the store", ours, bares, false);

  bench.report.heading(fmt::format("gRPC: {} callers watch a log grow", callers));
  ours.clear();
  bares.clear();
  for (int round = 0; round < bench.rounds(); ++round) {
    if (auto done = keep(ours, run_live(*server, live_events, callers)); !done) return done;
    if (auto done = keep(bares, run_bare(*bare, *port, sample, live_events, callers)); !done) return done;
  }
  add_rows(bench, "grpc.live", "StreamEvents", ours, bares, true);
  return {};
}

}  // namespace shepherd::bench
