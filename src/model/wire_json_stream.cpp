#include "json/write.h"

#include "model/wire_json.h"
namespace shepherd {

void append_task_event_open(std::string& out, std::string_view task_id) {
  out.append("{\"type\":\"task_event\",\"taskID\":");
  append_json_string(out, task_id);
  out.append(",\"data\":");
}

std::string gap_data(std::uint64_t from, std::uint64_t to) {
  std::string out = object_text([&](JsonObject& gap) {
    gap.number("from", from);
    gap.number("to", to);
  });
  return out;
}

std::string complete_data(const std::string& task, const TaskState& state) {
  std::string out = object_text([&](JsonObject& complete) {
    complete.text("taskID", task);
    complete.text("status", name(state.state));
    complete.text("prURL", state.pr_url);
    complete.text("error", state.error);
    complete.number("costUSD", state.usage.cost_usd);
    complete.number("lastSequence", state.last_sequence);
  });
  return out;
}

}  // namespace shepherd
