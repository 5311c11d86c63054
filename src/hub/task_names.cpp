#include "hub/task_names.h"

#include <algorithm>

namespace shepherd {
namespace {

class TaskNames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t) const override {
    out += batch.task;
    out += '\n';
  }
  void gap(std::string&, std::string_view, std::uint64_t, std::uint64_t) const override {}
  void caught_up(std::string&, std::string_view, std::uint64_t) const override {}
  void position(std::string&, std::string_view, std::uint64_t) const override {}
  void delta(std::string&, std::string_view, std::string_view) const override {}
  void complete(std::string&, std::string_view, std::string_view, std::uint64_t) const override {}
};

}  // namespace

std::vector<std::string_view> task_names(std::string_view frames) {
  std::vector<std::string_view> names;
  while (!frames.empty()) {
    std::string_view task = frames.substr(0, frames.find('\n'));
    frames.remove_prefix(std::min(task.size() + 1, frames.size()));
    if (names.empty() || names.back() != task) names.push_back(task);
  }
  return names;
}

const FrameEncoder& task_names_encoder() {
  static const TaskNames names;
  return names;
}

}  // namespace shepherd
