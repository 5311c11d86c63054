#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "tools/toolbox.h"

namespace shepherd {
namespace {

class JoinedToolbox final : public Toolbox {
 public:
  explicit JoinedToolbox(std::vector<std::unique_ptr<Toolbox>> boxes) : boxes_(std::move(boxes)) {
    SHEPHERD_ASSERT(!boxes_.empty(), "a toolbox is joined of at least one");
  }

  std::vector<Tool> tools() const override {
    std::vector<Tool> all;
    for (const auto& box : boxes_) {
      for (Tool& tool : box->tools()) {
        bool known = std::ranges::any_of(
            all, [&](const Tool& earlier) { return earlier.definition.name == tool.definition.name; });
        if (!known) all.push_back(std::move(tool));
      }
    }
    return all;
  }
  void on_change(std::function<void()> changed) override {
    for (const auto& box : boxes_) box->on_change(changed);
  }
  std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)> progress) override {
    Toolbox& box = box_of(use.name);
    return box.start(std::move(use), std::move(done), std::move(progress));
  }
  std::string describe(std::string_view name, std::string_view arguments) const override {
    return box_of(name).describe(name, arguments);
  }
  std::string rule_of(std::string_view name, std::string_view arguments) const override {
    return box_of(name).rule_of(name, arguments);
  }

 private:
  // For an unknown name the first one, whose answer says so.
  Toolbox& box_of(std::string_view name) const {
    for (const auto& box : boxes_) {
      for (const Tool& tool : box->tools()) {
        if (tool.definition.name == name) return *box;
      }
    }
    return *boxes_.front();
  }

  std::vector<std::unique_ptr<Toolbox>> boxes_;
};

}  // namespace

std::unique_ptr<Toolbox> join_toolboxes(std::vector<std::unique_ptr<Toolbox>> boxes) {
  return std::make_unique<JoinedToolbox>(std::move(boxes));
}

}  // namespace shepherd
