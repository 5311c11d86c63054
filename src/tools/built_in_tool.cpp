#include "tools/built_in_tool.h"

#include <utility>

#include "json/write.h"

namespace shepherd {
namespace {

// Between the run, which belongs to the loop, and the work, which is on another thread.
struct BesideState {
  std::atomic<bool> cancelled{false};
  ToolAnswer answer;  // used on the loop alone
};

class BesideRun final : public ToolRun {
 public:
  explicit BesideRun(std::shared_ptr<BesideState> state) : state_(std::move(state)) {}
  ~BesideRun() override {
    state_->cancelled = true;
    state_->answer = {};
  }
  BesideRun(const BesideRun&) = delete;
  BesideRun& operator=(const BesideRun&) = delete;

 private:
  std::shared_ptr<BesideState> state_;
};

// `done` destroys the run, which empties the state, so it is moved out first.
void answer_with(BesideState& state, ToolOutcome outcome) {
  if (state.cancelled) return;
  auto done = std::move(state.answer.done);
  if (done) done(std::move(outcome));
}

}  // namespace

Tool built_in_tool(std::string name, std::string description, std::string_view properties, std::string_view required,
                   bool asks) {
  Tool tool;
  tool.source = "built-in";
  tool.source_name = name;
  tool.definition.name = std::move(name);
  tool.definition.description = std::move(description);
  tool.definition.parameters = object_text([&](JsonObject& schema) {
    schema.text("type", "object");
    schema.json("properties", properties);
    if (required != "[]") schema.json("required", required);
  });
  tool.asks = asks;
  return tool;
}

ToolOutcome good_outcome(std::string content, std::string summary) {
  ToolOutcome outcome;
  outcome.success = true;
  outcome.content = std::move(content);
  outcome.summary = std::move(summary);
  return outcome;
}

ToolOutcome failed_outcome(std::string_view why) {
  ToolOutcome outcome;
  outcome.content = "Error: " + std::string(why);
  return outcome;
}

std::unique_ptr<ToolRun> answer_later(Executor& loop, ToolOutcome outcome, ToolAnswer answer) {
  auto state = std::make_shared<BesideState>();
  state->answer = std::move(answer);
  loop.post([state, outcome = std::move(outcome)]() mutable { answer_with(*state, std::move(outcome)); });
  return std::make_unique<BesideRun>(std::move(state));
}

std::unique_ptr<ToolRun> run_beside(Executor& loop, Executor& blocking, std::move_only_function<ToolOutcome()> work,
                                    ToolAnswer answer) {
  auto state = std::make_shared<BesideState>();
  state->answer = std::move(answer);
  blocking.post([&loop, state, work = std::move(work)]() mutable {
    if (state->cancelled) return;
    ToolOutcome outcome = work();
    work = {};  // what it holds ends here, not on the loop
    loop.post([state = std::move(state), outcome = std::move(outcome)]() mutable {
      answer_with(*state, std::move(outcome));
    });
  });
  return std::make_unique<BesideRun>(std::move(state));
}

}  // namespace shepherd
