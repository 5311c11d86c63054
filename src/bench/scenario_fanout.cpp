// Fan-out: 1,000 consumers on 1, 100 or 1,000 tasks, compared in turns with the bare limit of the machine and nchan.
// Each server runs on the same core and the load tool on another. Only with many commits (16 events per POST) does
// Shepherd share all cores with the tool, as it is designed to; the other servers have one thread, which works best
// alone on its core.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "bench/bare_target.h"
#include "bench/nchan.h"
#include "bench/scenario.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kConsumers = 1'000;
constexpr std::size_t kBatch = 16;

struct Spread {
  std::size_t tasks;
  std::size_t producers;  // grows with the number of tasks
  std::string name;
  // Targets; 0 means none.
  double single_of_nchan, single_of_bare, batch_of_nchan;
};
const std::vector<Spread> kSpreads{
    {1, 32, "1x1000", 6, 0.8, 0}, {100, 64, "100x10", 0, 0, 5}, {1'000, 128, "1000x1", 0, 0, 3}};

Shape shape_of(const Spread& spread, std::size_t batch, Transport transport = Transport::websocket) {
  return {.channels = spread.tasks,
          .subscribers = kConsumers,
          .publishers = spread.producers,
          .batch = batch,
          .transport = transport};
}

std::string batch_name(std::size_t batch) {
  return batch > 1 ? "batch16" : "single";
}

// The competing servers and their results.
struct Contest {
  Bench& bench;
  ShepherdServer& shepherd;       // on one core
  ShepherdServer& free_shepherd;  // on all cores
  int tool_core;
  BareTarget& bare;
  std::optional<Nchan>& nchan;
  std::map<std::string, std::vector<LoadResult>> runs;

  Result<void> run(const std::string& name, Target& target, const Shape& shape) {
    Result<LoadResult> result = run_shape(target, shape, bench.warmup(), bench.seconds(2));
    if (!result) return fail(ErrorCode::unavailable, result.error().reason, name + ": " + result.error().message);
    runs[name].push_back(std::move(*result));
    return {};
  }

  Result<void> run_own(const std::string& name, const Spread& spread, std::size_t batch) {
    PinnedTool pinned(batch > 1 ? -1 : tool_core);
    return run("shepherd." + name, batch > 1 ? free_shepherd : shepherd, shape_of(spread, batch));
  }

  Result<void> round(const Spread& spread) {
    PinnedTool pinned(tool_core);
    if (nchan) {
      if (Result<void> done = run("nchan", *nchan, shape_of(spread, 1)); !done) return done;
    }
    for (std::size_t batch : {std::size_t{1}, kBatch}) {
      std::string name = batch_name(batch);
      if (Result<void> done = run("bare." + name, bare, shape_of(spread, batch)); !done) return done;
      if (Result<void> done = run_own(name, spread, batch); !done) return done;
    }
    return {};
  }

  LoadResult middle(const std::string& name) {
    return median_run(std::move(runs[name]), &LoadResult::delivered_per_second);
  }
};

Row fanout_row(const Spread& spread, const std::string& who, const std::string& how, const LoadResult& result) {
  return load_row(fmt::format("fanout.{}.{}.{}", spread.name, how, who), fmt::format("{} {} {}", spread.name, how, who),
                  result, &LoadResult::delivered_per_second);
}

Result<void> measure_spread(Contest& contest, const Spread& spread) {
  for (int round = 0; round < contest.bench.rounds(); ++round) {
    if (Result<void> done = contest.round(spread); !done) return done;
  }
  Report& report = contest.bench.report;
  double nchan = 0;
  if (contest.nchan) {
    LoadResult other = contest.middle("nchan");
    nchan = other.delivered_per_second;
    Row row = fanout_row(spread, "nchan", "single", other);
    // Losses of other servers are shown, but are not defects of the server under test.
    if (!row.clean) row.note = fmt::format("{} missing", other.defects.missing);
    row.clean = true;
    report.add(std::move(row));
  }
  for (std::size_t batch : {std::size_t{1}, kBatch}) {
    std::string how = batch_name(batch);
    LoadResult limit = contest.middle("bare." + how), own = contest.middle("shepherd." + how);
    double bare = limit.delivered_per_second;
    report.add(fanout_row(spread, "bare", how, limit));
    Row row = fanout_row(spread, "websocket", how, own);
    row.more.emplace_back("ofBare", row.value / bare);
    if (nchan > 0) row.more.emplace_back("timesNchan", row.value / nchan);
    double of_nchan = batch > 1 ? spread.batch_of_nchan : spread.single_of_nchan;
    if (nchan > 0 && of_nchan > 0) {
      row.judgements.push_back({.what = "x nchan", .value = row.value / nchan, .bound = of_nchan});
    }
    if (batch == 1 && spread.single_of_bare > 0) {
      row.judgements.push_back({.what = "x bare", .value = row.value / bare, .bound = spread.single_of_bare});
    }
    row.note = fmt::format("{:.2f} x bare", row.value / bare);
    if (nchan > 0) row.note += fmt::format(", {:.2f} x nchan", row.value / nchan);
    report.add(std::move(row));
  }
  contest.runs.clear();
  return {};
}

// The other transports have no target, but must not lose events either.
Result<void> measure_transport(Bench& bench, ShepherdServer& server, Transport transport, bool tls) {
  std::string who = std::string(transport == Transport::sse ? "sse" : "websocket") + (tls ? "+tls" : "");
  for (const Spread& spread : kSpreads) {
    if (bench.options.quick && spread.tasks == 1'000) continue;
    for (std::size_t batch : {std::size_t{1}, kBatch}) {
      if (bench.options.quick && batch == 1) continue;
      Result<LoadResult> result =
          run_shape(server, shape_of(spread, batch, transport), bench.warmup(), bench.seconds(2));
      if (!result) return fail(result.error());
      bench.report.add(fanout_row(spread, who, batch_name(batch), *result));
    }
  }
  return {};
}

}  // namespace

Result<void> measure_fanout(Bench& bench) {
  Cores cores = bench.options.pin ? separate_cores() : Cores{};
  bench.report.heading(fmt::format(
      "Fan-out: deliveries a second to {} consumers, 32 to 128 producers, Shepherd durable, the others not{}",
      kConsumers,
      cores.server < 0 ? ""
                       : fmt::format("; servers on core {}, tool on core {} (Shepherd with batches: on all)",
                                     cores.server, cores.tool)));
  Result<BareTarget> bare = BareTarget::start(cores.server);
  if (!bare) return fail(bare.error());
  Result<ShepherdServer> server = bench.start_server(false, cores.server);
  if (!server) return fail(server.error());
  std::optional<Nchan> nchan;
  if (bench.options.peers) {
    Result<Nchan> started = Nchan::start(bench.new_directory("nchan"), cores.server);
    if (started) {
      nchan.emplace(std::move(*started));
    } else {
      bench.report.note("  without nchan: " + started.error().message);
    }
  }

  Result<ShepherdServer> free_server = bench.start_server(false, -1);
  if (!free_server) return fail(free_server.error());
  Contest contest{bench, *server, *free_server, cores.tool, *bare, nchan, {}};
  for (const Spread& spread : kSpreads) {
    if (Result<void> done = measure_spread(contest, spread); !done) return done;
  }
  nchan.reset();
  free_server->stop();
  PinnedTool pinned(cores.tool);
  if (Result<void> done = measure_transport(bench, *server, Transport::sse, false); !done) return done;
  server->stop();

  Result<ShepherdServer> secure = bench.start_server(true, cores.server);
  if (!secure) return fail(secure.error());
  for (Transport transport : {Transport::websocket, Transport::sse}) {
    if (Result<void> done = measure_transport(bench, *secure, transport, true); !done) return done;
  }
  return {};
}

}  // namespace shepherd::bench
