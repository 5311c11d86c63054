// Counters over all streams of a server since it started.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace shepherd::agent {

struct Metrics {
  std::atomic<std::uint64_t> messages_received{0};
  std::atomic<std::uint64_t> messages_sent{0};
  std::atomic<std::uint64_t> steering_messages{0};

  // Returns agent_stream_messages_received_total, agent_stream_messages_sent_total and agent_steering_messages_total in
  // the Prometheus text format. ServerOptions::metrics_address serves this text; an agent with an endpoint of its own
  // can append it there.
  std::string prometheus_text() const;
};

}  // namespace shepherd::agent
