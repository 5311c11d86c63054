// Late consumers: resuming 10,000 events behind, reading a long log from its start, and reading its newest page. Also
// the size of an event on disk.
#include <fmt/format.h>

#include <algorithm>

#include "bench/read_log.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"
#include "bench/written_log.h"

namespace shepherd::bench {
namespace {

constexpr std::uint64_t kLong = 1'000'000, kLongQuick = 200'000;
constexpr std::uint32_t kBehind = 10'000;
constexpr double kLeastReplay = 1e6;
constexpr double kMostPageMs = 20;
constexpr int kReplayPages = 20, kResumes = 5;
constexpr double kReplayReadSeconds = 120;

Result<void> measure_resume(Bench& bench, ShepherdServer& server) {
  Result<WrittenLog> log = write_log(server, 2 * kBehind, 1);
  if (!log) return fail(log.error());
  std::uint32_t first = log->load.sent.at(0).at(0) - kBehind;
  std::vector<double> times;
  Row row{.id = "resume.10000", .title = "resume 10,000 events behind: time to the last", .unit = Unit::milliseconds};
  for (int i = 0; i < kResumes; ++i) {
    Result<LogRead> read =
        read_log(server.subscribe({log->task}, 1, Transport::websocket, fmt::format("?after={}", first)), log->load,
                 first, kReplayReadSeconds);
    if (!read) return fail(read.error());
    times.push_back(read->seconds * 1e3);
    row.defects += read->defects;
    row.clean = row.clean && read->clean;
  }
  row.value = median(times);
  bench.report.add(std::move(row));
  return {};
}

Result<void> measure_long_log(Bench& bench, ShepherdServer& server, const WrittenLog& log) {
  for (Transport transport : {Transport::websocket, Transport::sse}) {
    bool sse = transport == Transport::sse;
    std::vector<double> rates;
    Row row{.id = sse ? "replay.sse" : "replay.websocket",
            .title = fmt::format("replay of {} thousand events, {}", log.load.sent_events / 1'000,
                                 sse ? "SSE" : "WebSocket")};
    for (int round = 0; round < bench.rounds(); ++round) {
      Result<LogRead> read = read_log(server.subscribe({log.task}, 1, transport), log.load, 0, kReplayReadSeconds);
      if (!read) return fail(read.error());
      rates.push_back(static_cast<double>(read->events) / read->seconds);
      row.defects += read->defects;
      row.clean = row.clean && read->clean;
    }
    row.value = median(rates);
    row.judgements.push_back({.what = "rate", .value = row.value, .bound = kLeastReplay, .ratio = false});
    bench.report.add(std::move(row));
  }
  return {};
}

Result<void> measure_newest_page(Bench& bench, ShepherdServer& server, const WrittenLog& log) {
  std::vector<double> times;
  for (int i = 0; i < kReplayPages; ++i) {
    std::uint64_t start_ns = steady_ns();
    Result<HttpAnswer> page = server.get("/api/v1/tasks/" + log.task + "/events?tail=100");
    if (!page) return fail(page.error());
    times.push_back(static_cast<double>(steady_ns() - start_ns) / 1e6);
    if (page->status != 200) {
      return fail(ErrorCode::unavailable, "refused", fmt::format("the newest page was answered {}", page->status));
    }
  }
  Row row{.id = "page.newest",
          .title = "newest page of that log (tail=100)",
          .value = median(times),
          .unit = Unit::milliseconds};
  row.max_ms = *std::max_element(times.begin(), times.end());
  row.judgements.push_back({.what = "time",
                            .value = row.value,
                            .bound = kMostPageMs,
                            .at_least = false,
                            .unit = Unit::milliseconds,
                            .ratio = false});
  bench.report.add(std::move(row));
  return {};
}

}  // namespace

Result<void> measure_replay(Bench& bench) {
  bench.report.heading("Coming late: one consumer, the log is there already");
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());
  if (Result<void> done = measure_resume(bench, *server); !done) return done;
  Result<WrittenLog> log = write_log(*server, bench.options.quick ? kLongQuick : kLong, 16);
  if (!log) return fail(log.error());
  if (Result<void> done = wait_for_index(*server); !done) return done;
  if (Result<void> done = measure_long_log(bench, *server, *log); !done) return done;
  if (Result<void> done = measure_newest_page(bench, *server, *log); !done) return done;

  Result<double> events = server->metric("shepherd_events_appended_total");
  if (!events) return fail(events.error());
  server->stop();  // moves the write-ahead log into the database
  Row row{.id = "store.bytes_per_event",
          .title = "store bytes an event",
          .value = static_cast<double>(server->store_bytes()) / std::max(1.0, *events),
          .unit = Unit::bytes};
  row.note = fmt::format("{} bytes posted", EventTexts::kDefaultBytes);
  row.more = {{"postedBytes", static_cast<double>(EventTexts::kDefaultBytes)}};
  bench.report.add(std::move(row));
  return {};
}

}  // namespace shepherd::bench
