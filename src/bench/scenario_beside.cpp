// What one caller's expensive reads cost the others: a viewer asks for the state at 150 events of a long log at a time,
// while another caller reads pages, opens streams and claims tasks.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <functional>
#include <span>
#include <thread>
#include <utility>

#include "bench/interrupt.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"
#include "bench/written_log.h"

namespace shepherd::bench {
namespace {

constexpr std::uint64_t kHeavyLog = 1'000'000, kHeavyLogQuick = 100'000;
constexpr std::size_t kAtOnce = 150;
constexpr int kBesideRounds = 100, kBesideRoundsQuick = 25;
constexpr double kMostBesideMs = 100;

Result<std::string> viewer_token(const ShepherdServer& server) {
  Result<HttpAnswer> made =
      http_call(server.open(), {"POST", "/api/v1/tokens", server.authorization() + "Content-Type: application/json\r\n",
                                R"({"name":"bench-viewer","scope":"viewer"})"});
  if (!made) return fail(made.error());
  boost::system::error_code error;
  boost::json::value token = boost::json::parse(made->body, error);
  if (error || !token.is_object() || !token.as_object().contains("secret")) {
    return fail(ErrorCode::unavailable, "refused", "making a token was answered " + made->body.substr(0, 200));
  }
  return std::string(token.as_object().at("secret").as_string());
}

// Asks again and again on a thread of its own, until it ends.
class HeavyReader {
 public:
  HeavyReader(Address at, const std::string& token, const std::string& task, std::uint64_t events)
      : at_(std::move(at)) {
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      requests_.push_back({.target = fmt::format("/api/v1/tasks/{}?at={}", task, (i + 1) * events / (kAtOnce + 1)),
                           .headers = "Authorization: Bearer " + token + "\r\n"});
    }
    thread_ = std::thread([this] { run(); });
  }
  ~HeavyReader() { stop(); }
  HeavyReader(const HeavyReader&) = delete;
  HeavyReader& operator=(const HeavyReader&) = delete;

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t refused() const { return refused_; }  // 503
  std::uint64_t failed() const { return failed_; }

 private:
  void run() {
    while (!stopping_) {
      Result<std::vector<HttpAnswer>> answers = http_calls(at_, requests_, kAtOnce);
      if (!answers) {
        ++failed_;
        return;
      }
      for (const HttpAnswer& answer : *answers) {
        (answer.status == 200 ? answered_ : answer.status == 503 ? refused_ : failed_).fetch_add(1);
      }
    }
  }

  const Address at_;
  std::vector<HttpRequest> requests_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> answered_{0}, refused_{0}, failed_{0};
  std::thread thread_;
};

struct Beside {
  std::string id, title;
  LatencyHistogram times;

  Result<void> measure(int wanted, const std::function<Result<HttpAnswer>()>& call) {
    std::uint64_t start_ns = steady_ns();
    Result<HttpAnswer> answer = call();
    if (!answer) return fail(answer.error());
    times.record(steady_ns() - start_ns);
    if (answer->status == wanted) return {};
    return fail(ErrorCode::unavailable, "refused",
                fmt::format("{} was answered {}: {}", title, answer->status, answer->body.substr(0, 200)));
  }
};

Result<HttpAnswer> internal_call(ShepherdServer& server, HttpRequest request) {
  std::vector<HttpRequest> one;
  one.push_back(std::move(request));
  Result<std::vector<HttpAnswer>> answers = server.internal_calls(std::move(one));
  if (!answers) return fail(answers.error());
  return std::move(answers->front());
}

Result<void> one_round(ShepherdServer& server, const std::string& read, std::span<Beside> rows) {
  Result<std::vector<std::string>> queued = server.create_tasks(1);
  if (!queued) return fail(queued.error());
  const std::string& task = queued->front();
  std::string events = "/api/v1/tasks/" + read + "/events";
  auto done = rows[0].measure(200, [&] { return server.get(events + "?tail=100"); });
  if (done) done = rows[1].measure(200, [&] { return server.get("/api/v1/tasks/" + read + "?at=50"); });
  if (done) {  // until the head of the answer, which the stream follows
    done = rows[2].measure(200, [&] {
      return http_call(server.open(),
                       {.target = events, .headers = server.authorization() + "Accept: text/event-stream\r\n"});
    });
  }
  if (done) {
    done = rows[3].measure(200, [&] {
      return internal_call(server, {"POST", "/api/v1/claims", "Content-Type: application/json\r\n",
                                    fmt::format(R"({{"runner":"bench","taskID":"{}","wait":0}})", task)});
    });
  }
  if (done) {
    done = rows[4].measure(200, [&] { return internal_call(server, {.target = "/api/v1/tasks/" + task + "/data"}); });
  }
  return done;
}

}  // namespace

Result<void> measure_beside(Bench& bench) {
  std::uint64_t events = bench.options.quick ? kHeavyLogQuick : kHeavyLog;
  bench.report.heading(fmt::format("Beside a viewer that asks for {} states in a log of {} thousand events at a time",
                                   kAtOnce, events / 1'000));
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());
  Result<WrittenLog> heavy = write_log(*server, events, 16);
  if (!heavy) return fail(heavy.error());
  Result<WrittenLog> light = write_log(*server, 1'000, 1);
  if (!light) return fail(light.error());
  if (Result<void> done = wait_for_index(*server); !done) return done;
  Result<std::string> token = viewer_token(*server);
  if (!token) return fail(token.error());

  std::array<Beside, 5> rows{{{"page", "newest page of another task", {}},
                              {"state", "state at an event of another task", {}},
                              {"stream", "opening a stream", {}},
                              {"claim", "claiming a task", {}},
                              {"data", "a runner reads its task", {}}}};
  std::uint64_t start_ns = steady_ns();
  HeavyReader reader(server->open(), *token, heavy->task, heavy->load.sent_events);
  for (int i = 0; i < (bench.options.quick ? kBesideRoundsQuick : kBesideRounds); ++i) {
    if (Result<void> going = check_interrupt(); !going) return going;
    if (Result<void> done = one_round(*server, light->task, rows); !done) return done;
  }
  double seconds = static_cast<double>(steady_ns() - start_ns) / static_cast<double>(kNsPerSecond);
  reader.stop();
  for (const Beside& each : rows) {
    Row row{.id = "beside." + each.id, .title = each.title, .unit = Unit::milliseconds};
    row.set_latency(each.times);
    row.value = *row.max_ms;  // the slowest, because one late answer fails a task
    row.judgements.push_back({.what = "slowest",
                              .value = row.value,
                              .bound = kMostBesideMs,
                              .at_least = false,
                              .unit = Unit::milliseconds,
                              .ratio = false});
    bench.report.add(std::move(row));
  }
  Row row{.id = "beside.viewer",
          .title = "that viewer's states",
          .value = static_cast<double>(reader.answered()) / seconds,
          .clean = reader.failed() == 0};
  row.more = {{"refused", static_cast<double>(reader.refused())}};
  bench.report.add(std::move(row));
  return {};
}

}  // namespace shepherd::bench
