#include "runner/service_events.h"

#include "driver/limits.h"

namespace shepherd {

void ServiceEvents::on_head(net::ResponseHead&& head) {
  status_ = head.status;
  if (status_ == 200) sinks_.opened();
}

void ServiceEvents::on_body(std::string_view piece) {
  if (status_ != 200) return;
  lines_.add(piece, [this](const Line& line) { take(line.text); });
}

void ServiceEvents::on_end(Result<void> result) {
  sinks_.ended(!result          ? result.error().message
               : status_ == 200 ? "the service ended its stream of events"
                                : "the service answered " + std::to_string(status_) + " to the stream of events");
}

// A blank line ends an event; fields other than `data`, and comments, say nothing that is needed.
void ServiceEvents::take(std::string_view line) {
  constexpr std::string_view kData = "data:";
  if (line.empty()) {
    std::string data = std::exchange(data_, {});
    if (!data.empty()) sinks_.event(data);
  } else if (line.starts_with(kData)) {
    line.remove_prefix(kData.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (data_.size() + line.size() > kMaxAgentLineBytes) return;
    if (!data_.empty()) data_.push_back('\n');
    data_.append(line);
  }
}

}  // namespace shepherd
