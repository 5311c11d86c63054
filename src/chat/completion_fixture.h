// A model and a toolbox that follow a script, for the tests of stateless calls. They answer when the test says so.
// Threads: caller.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/completion.h"
#include "llm/model.h"
#include "tools/toolbox.h"

namespace shepherd {

// Records requests; the test answers the newest call through `observer`.
class HeldModel final : public Model {
 public:
  explicit HeldModel(std::string name, std::string model = "") : name_(std::move(name)) {
    facts_.model = std::move(model);
  }

  const std::string& name() const override { return name_; }
  std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) override {
    requests.push_back(std::move(request));
    observer_ = &observer;
    struct Started final : ModelCall {
      explicit Started(HeldModel& model) : model_(model) { ++model_.open; }
      ~Started() override { --model_.open; }
      HeldModel& model_;
    };
    return std::make_unique<Started>(*this);
  }
  std::unique_ptr<ModelCall> count(const ModelRequest&, std::move_only_function<void(Result<std::int64_t>)>) override {
    return nullptr;
  }
  std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)>) override { return nullptr; }
  ModelFacts facts() const override { return facts_; }
  bool answers() const override { return true; }

  void say(std::string_view text) { observer_->on_text(text); }
  void think(std::string_view text) { observer_->on_reasoning(text); }
  void end(ModelAnswer answer) {
    answer.backend = name_;
    observer_->on_end(std::move(answer));
  }
  // Says the text and ends.
  void answer(const std::string& text, std::vector<ToolRequest> calls = {}, Finish finish = Finish::stop) {
    if (!text.empty()) say(text);
    ModelAnswer made;
    made.text = text;
    made.finish = calls.empty() || finish != Finish::stop ? finish : Finish::tool_calls;
    made.tool_calls = std::move(calls);
    made.usage = {true, 10, 2, 0, 0, 0};
    end(std::move(made));
  }
  void fails(Error error) { observer_->on_end(fail(std::move(error))); }

  std::vector<ModelRequest> requests;
  int open = 0;  // calls that are not destroyed
  ModelFacts facts_;

 private:
  const std::string name_;
  ModelObserver* observer_ = nullptr;
};

// Runs a tool when the test says what it returned.
class HeldTools final : public Toolbox {
 public:
  void offer(const std::string& name, bool asks) {
    tools_.push_back({{name, "Does " + name, "{}"}, "built-in", name, asks});
  }

  std::vector<Tool> tools() const override { return tools_; }
  void on_change(std::function<void()>) override {}
  std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)>) override {
    uses.push_back(std::move(use));
    done_ = std::move(done);
    struct Started final : ToolRun {
      explicit Started(HeldTools& box) : box_(box) { ++box_.open; }
      ~Started() override { --box_.open; }
      HeldTools& box_;
    };
    return std::make_unique<Started>(*this);
  }
  std::string describe(std::string_view name, std::string_view) const override { return "Runs " + std::string(name); }
  std::string rule_of(std::string_view name, std::string_view arguments) const override {
    bool git = arguments.find("git") != std::string_view::npos;
    return std::string(name) + (git ? "(git)" : "(other)");
  }

  void returns(std::string content, bool success = true) {
    ToolOutcome outcome;
    outcome.success = success;
    outcome.content = std::move(content);
    auto done = std::move(done_);
    done(std::move(outcome));
  }

  std::vector<ToolInvocation> uses;
  int open = 0;

 private:
  std::vector<Tool> tools_;
  std::move_only_function<void(ToolOutcome)> done_;
};

// Keeps everything that it is told.
class KeptCompletion final : public CompletionObserver {
 public:
  void on_text(std::string_view piece) override { text += piece; }
  void on_reasoning(std::string_view piece) override { reasoning += piece; }
  void on_tool(std::string_view name) override { tools.emplace_back(name); }
  void on_end(Result<CompletionEnd> given) override { end = std::move(given); }

  std::string text, reasoning;
  std::vector<std::string> tools;
  std::optional<Result<CompletionEnd>> end;
};

}  // namespace shepherd
