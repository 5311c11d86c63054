#include "bench/load.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "bench/interrupt.h"
#include "bench/process_usage.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr double kConnectSeconds = 60;
constexpr double kSettleSeconds = 0.2;  // nchan subscribes only after its answer

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint16_t next_run() {
  static std::atomic<std::uint16_t> run{0};
  return ++run;
}

LoadPlan numbered(LoadPlan plan) {
  plan.publish.run = plan.subscribe.run = next_run();
  plan.publish.paced = plan.rate > 0;
  std::size_t channels = plan.publish.channels;
  plan.subscribe.streams = std::max<std::size_t>(1, (plan.publish.count + channels - 1) / channels);
  return plan;
}

// Threads: caller.
class LoadRun {
 public:
  explicit LoadRun(LoadPlan plan)
      : plan_(numbered(std::move(plan))),
        texts_(plan_.event_bytes),
        subscribers_(plan_.subscribe, poller_),
        publishers_(plan_.publish, *plan_.wire, texts_, poller_) {}

  Result<LoadResult> run() {
    // By default the kernel may round a wait up by 50 microseconds.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (plan_.subscribe.count > 0) {
      if (Result<void> connected = subscribers_.connect(kConnectSeconds); !connected) return fail(connected.error());
    }
    if (Result<void> connected = publishers_.connect(); !connected) return fail(connected.error());
    if (Result<void> settled = settle(); !settled) return fail(settled.error());
    if (Result<void> published = publish(); !published) return fail(published.error());
    if (Result<void> drained = drain(); !drained) return fail(drained.error());
    finish();
    return std::move(result_);
  }

 private:
  Result<void> settle() {
    if (plan_.subscribe.count == 0) return {};
    std::uint64_t until = steady_ns() + seconds_as_ns(kSettleSeconds);
    while (steady_ns() < until) {
      if (Result<void> turned = turn(until); !turned) return turned;
    }
    return {};
  }

  // Waits for an event, at most until `until_ns`, and handles it.
  Result<void> turn(std::uint64_t until_ns) {
    if (Result<void> going = check_interrupt(); !going) return going;
    std::uint64_t now_ns = steady_ns();
    for (const epoll_event& event : poller_.wait(until_ns > now_ns ? until_ns - now_ns : 0)) {
      if (event.data.u64 < Publishers::kPublisherNumbers) {
        subscribers_.on_ready(event.data.u64, event.events);
      } else if (Result<void> handled = publishers_.on_ready(event.data.u64); !handled) {
        return handled;
      }
    }
    return {};
  }

  Result<void> publish() {
    start_ns_ = steady_ns();
    std::uint64_t measure_ns = start_ns_ + seconds_as_ns(plan_.warmup_seconds);
    std::uint64_t end_ns = measure_ns + seconds_as_ns(plan_.seconds);
    bool measuring = false;
    while (true) {
      std::uint64_t now_ns = steady_ns();
      if (!measuring && now_ns >= measure_ns) {
        measuring = true;
        start_measuring(now_ns);
      }
      if (now_ns >= end_ns || (enough() && publishers_.all_answered())) break;
      if (Result<void> pumped = pump(now_ns); !pumped) return pumped;
      std::uint64_t until = measuring ? end_ns : measure_ns;
      if (plan_.rate > 0 && !enough()) until = std::min(until, due_ns(turns_));
      if (Result<void> turned = turn(until); !turned) return turned;
    }
    stop_measuring(steady_ns());
    return {};
  }

  bool enough() const { return plan_.max_events > 0 && publishers_.sent_events() >= plan_.max_events; }

  std::uint64_t due_ns(std::uint64_t turn) const {
    return start_ns_ + seconds_as_ns(static_cast<double>(turn * plan_.publish.batch) / plan_.rate);
  }

  Result<void> pump(std::uint64_t now_ns) {
    if (plan_.rate > 0) {
      while (!enough() && due_ns(turns_) <= now_ns) {
        if (Result<void> sent = publishers_.publish_due(turns_, due_ns(turns_), now_ns); !sent) return sent;
        expected_ += deliveries_of(plan_.publish.count > plan_.publish.channels
                                       ? turns_ % plan_.publish.count % plan_.publish.channels
                                       : turns_ % plan_.publish.channels);
        ++turns_;
      }
      return {};
    }
    std::uint64_t most = plan_.window * plan_.subscribe.count;
    while (publishers_.any_idle() && !enough()) {
      std::uint64_t deliveries = deliveries_of(publishers_.next_channel());
      std::uint64_t outstanding = expected_ - std::min(expected_, subscribers_.received());
      if (outstanding > 0 && outstanding + deliveries > most && plan_.subscribe.count > 0) break;
      expected_ += deliveries;
      if (Result<void> sent = publishers_.publish_next(steady_ns()); !sent) return sent;
    }
    return {};
  }

  std::uint64_t deliveries_of(std::size_t channel) const {
    return plan_.subscribe.count == 0 ? 0 : plan_.publish.batch * subscribers_.listening_to(channel);
  }

  void start_measuring(std::uint64_t now_ns) {
    measured_from_ns_ = now_ns;
    answered_before_ = publishers_.answered_events();
    server_cpu_before_ = plan_.server > 0 ? cpu_seconds(plan_.server) : 0;
    own_cpu_before_ = own_cpu_seconds();
    subscribers_.measure(true);
    publishers_.measure(true);
  }

  void stop_measuring(std::uint64_t now_ns) {
    subscribers_.measure(false);
    publishers_.measure(false);
    double seconds = static_cast<double>(now_ns - measured_from_ns_) / static_cast<double>(kNsPerSecond);
    Receipts& receipts = subscribers_.receipts();
    auto per_second = [&](std::uint64_t n) { return seconds > 0 ? static_cast<double>(n) / seconds : 0; };
    result_.seconds = seconds;
    result_.delivered_per_second = per_second(receipts.events);
    result_.bytes_per_second = per_second(receipts.bytes);
    result_.answered_per_second = per_second(publishers_.answered_events() - answered_before_);
    result_.events_per_read =
        static_cast<double>(receipts.events) / static_cast<double>(std::max<std::uint64_t>(receipts.reads, 1));
    result_.tool_cpu = (own_cpu_seconds() - own_cpu_before_) / seconds;
    if (plan_.server > 0) {
      result_.server_cpu = (cpu_seconds(plan_.server) - server_cpu_before_) / seconds;
      result_.server_rss_bytes = rss_bytes(plan_.server);
    }
  }

  Result<void> drain() {
    std::uint64_t deadline = steady_ns() + seconds_as_ns(plan_.drain_seconds);
    while (!publishers_.all_answered() || subscribers_.received() < expected_) {
      if (steady_ns() > deadline) break;
      if (Result<void> turned = turn(std::min(deadline, steady_ns() + kNsPerSecond / 10)); !turned) return turned;
    }
    return {};
  }

  void finish() {
    result_.latency = std::move(subscribers_.receipts().latency);
    result_.answer_latency.add(publishers_.answer_latency());
    result_.defects = subscribers_.finish(publishers_.sent());
    // A request that is unanswered after the drain counts as a missing event.
    if (plan_.subscribe.count == 0) {
      result_.defects.missing += publishers_.sent_events() - publishers_.answered_events();
    }
    result_.sent_events = publishers_.sent_events();
    result_.received = subscribers_.received();
    result_.foreign = subscribers_.foreign();
    result_.lost_connections = subscribers_.lost();
    result_.sent = publishers_.sent();
    result_.run = plan_.publish.run;
  }

  const LoadPlan plan_;
  Poller poller_;
  EventTexts texts_;
  Subscribers subscribers_;
  Publishers publishers_;
  LoadResult result_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t turns_ = 0;     // requests due so far, at a rate
  std::uint64_t expected_ = 0;  // deliveries that the sent events must cause
  std::uint64_t measured_from_ns_ = 0;
  std::uint64_t answered_before_ = 0;
  double server_cpu_before_ = 0;
  double own_cpu_before_ = 0;
};

}  // namespace

Result<LoadResult> run_load(LoadPlan plan) {
  return LoadRun(std::move(plan)).run();
}

}  // namespace shepherd::bench
