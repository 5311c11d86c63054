#include "shepherd/agent/metrics.h"

namespace shepherd::agent {

std::string Metrics::prometheus_text() const {
  std::string text;
  auto counter = [&text](const char* name, const char* meaning, const std::atomic<std::uint64_t>& value) {
    text += std::string("# HELP ") + name + " " + meaning + "\n# TYPE " + name + " counter\n" + name + " " +
            std::to_string(value.load()) + "\n";
  };
  counter("agent_stream_messages_received_total", "Messages received from callers.", messages_received);
  counter("agent_stream_messages_sent_total", "Messages sent to callers.", messages_sent);
  counter("agent_steering_messages_total", "Steering messages received.", steering_messages);
  return text;
}

}  // namespace shepherd::agent
