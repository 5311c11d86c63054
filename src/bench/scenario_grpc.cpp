// A log read over gRPC, beside a bare grpc++ server that streams the same bytes without looking at them.
#include <fmt/format.h>

#include <algorithm>

#include "bench/grpc_bare_server.h"
#include "bench/grpc_read.h"
#include "bench/process_usage.h"
#include "bench/scenario.h"
#include "bench/written_log.h"
#include "shepherd/observability/v1/observability.pb.h"

namespace shepherd::bench {
namespace {

constexpr std::uint64_t kEvents = 200'000, kEventsQuick = 50'000;
constexpr double kMostOfBare = 1.5;
constexpr double kStartSeconds = 20;

struct Run {
  double rate = 0, cpu_us = 0;  // messages a second; the server's time for one
  Defects defects;
  bool clean = true;
};

Run run_of(const GrpcRead& read, double cpu_seconds) {
  auto messages = static_cast<double>(std::max<std::uint64_t>(read.messages, 1));
  return {.rate = messages / read.seconds, .cpu_us = cpu_seconds / messages * 1e6, .defects = {}, .clean = true};
}

// The log's numbers, which must be 1, 2, 3, …
class Numbers {
 public:
  void see(std::string_view bytes) {
    if (!event_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || event_.sequence() == 0) return;
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

 private:
  observability::v1::AgentEvent event_;
  std::string sample_;
  std::uint64_t last_ = 0;
  Defects defects_;
};

Result<Run> run_shepherd(const ShepherdServer& server, const WrittenLog& log, std::string& sample) {
  observability::v1::StreamEventsRequest request;
  request.add_agent_ids(log.task);
  request.set_until_caught_up(true);
  Numbers numbers;
  double before = cpu_seconds(server.pid());
  auto read = read_grpc_stream({.address = server.grpc(),
                                .method = "/shepherd.observability.v1.ObservabilityService/StreamEvents",
                                .request = request.SerializeAsString(),
                                .metadata = {{"authorization", "Bearer " + server.token()}}},
                               [&](std::string_view bytes) { numbers.see(bytes); });
  if (!read) return fail(read.error());
  Run run = run_of(*read, cpu_seconds(server.pid()) - before);
  run.defects = numbers.defects(log.load.sent_events);
  run.clean = run.defects.missing + run.defects.repeated == 0;
  sample = numbers.sample();
  return run;
}

Result<Run> run_bare(Process& bare, std::uint16_t port, const std::string& sample, std::uint64_t count) {
  observability::v1::AgentEvent event;  // looked at as Shepherd's are
  double before = cpu_seconds(bare.pid());
  auto read = read_grpc_stream(
      {.address = fmt::format("127.0.0.1:{}", port),
       .method = "/bare/Repeat",
       .request = sample,
       .metadata = {{"count", std::to_string(count)}}},
      [&](std::string_view bytes) { event.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())); });
  if (!read) return fail(read.error());
  return run_of(*read, cpu_seconds(bare.pid()) - before);
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

}  // namespace

// The last scenario: gRPC's threads stay in this process, and the others fork.
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
  std::vector<Run> ours, bares;
  for (int round = 0; round < bench.rounds(); ++round) {
    std::string sample;
    Result<Run> run = run_shepherd(*server, *log, sample);
    if (!run) return fail(run.error());
    ours.push_back(*run);
    run = run_bare(*bare, *port, sample, log->load.sent_events);
    if (!run) return fail(run.error());
    bares.push_back(*run);
  }
  Row limit = row_of("grpc.bare", "bare grpc++ server, the same bytes", bares);
  Row row = row_of("grpc.stream_events", "StreamEvents", ours);
  row.judgements.push_back(
      {.what = "x bare's time a message", .value = limit.value / row.value, .bound = kMostOfBare, .at_least = false});
  row.judgements.push_back({.what = "x bare's CPU a message",
                            .value = *row.server_us / *limit.server_us,
                            .bound = kMostOfBare,
                            .at_least = false});
  bench.report.add(std::move(limit));
  bench.report.add(std::move(row));
  return {};
}

}  // namespace shepherd::bench
