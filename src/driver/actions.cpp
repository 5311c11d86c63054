#include "driver/actions.h"

#include "json/write.h"

namespace shepherd {

void append_posted(std::string& out, const DriverEvent& event, std::uint64_t sequence, bool with_detail) {
  out.push_back('{');
  if (sequence != 0) {
    out.append("\"sequence\":");
    append_number(out, sequence);
    out.push_back(',');
  }
  out.append(event.json, 1, event.json.size() - 2);
  if (with_detail && !event.detail.empty()) out.append(",\"detail\":").append(event.detail);
  out.push_back('}');
}

void Actions::event(DriverEvent event) {
  ++shown_;
  list_.emplace_back(std::move(event));
}

void Actions::delta(TextDelta delta) {
  ++shown_;
  list_.emplace_back(std::move(delta));
}

void Actions::write(std::string_view bytes) {
  if (!list_.empty()) {
    if (auto* before = std::get_if<WriteInput>(&list_.back())) {
      before->bytes.append(bytes);
      return;
    }
  }
  list_.emplace_back(WriteInput{std::string(bytes)});
}

void Actions::add(Actions more) {
  for (Action& each : more.list_) {
    if (const auto* bytes = std::get_if<WriteInput>(&each)) {
      write(bytes->bytes);
    } else {
      list_.push_back(std::move(each));
    }
  }
  shown_ += more.shown_;
}

void Actions::clear() {
  list_.clear();
  shown_ = 0;
}

std::string Actions::written() const {
  std::string bytes;
  for (const WriteInput& each : of<WriteInput>()) bytes += each.bytes;
  return bytes;
}

std::string Actions::take_written() {
  std::string bytes = written();
  std::erase_if(list_, [](const Action& each) { return std::holds_alternative<WriteInput>(each); });
  return bytes;
}

std::vector<DriverEvent> Actions::take_events() {
  std::vector<DriverEvent> events;
  for (Action& each : list_) {
    if (auto* event = std::get_if<DriverEvent>(&each)) events.push_back(std::move(*event));
  }
  clear();
  return events;
}

}  // namespace shepherd
