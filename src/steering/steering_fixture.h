// Steering over a memory store, with a manual clock and a journal that the test steps. For this folder's tests.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal_fixture.h"
#include "model/task_commands.h"
#include "steering/limits.h"
#include "steering/steering.h"

namespace shepherd {

class SteeringFixture : public JournalFixture {
 protected:
  void SetUp() override { restart(); }
  void TearDown() override { stop(); }

  void restart() {
    stop();
    auto opened = Steering::open({journal_, workers_, clock_, random_, metrics_, &redactor_}, config_);
    ASSERT_TRUE(opened) << opened.error().message;
    steering_ = std::move(*opened);
    settle();
  }
  void stop() {
    if (steering_ == nullptr) return;
    stop_now(*steering_);
    steering_.reset();
  }
  // Passes time as a responsive server sees it: one tick after the other.
  void pass_ms(std::int64_t ms) {
    for (; ms > 0; ms -= kMostLeaseStep.count()) {
      clock_.advance_ms(std::min<std::int64_t>(ms, kMostLeaseStep.count()));
      steering_->tick();
      settle();
    }
  }

  Task create(const std::string& id, const std::string& members = "") {
    auto spec = decode_task_request(R"({"id":")" + id + R"(","prompt":"do it")" + members + "}");
    EXPECT_TRUE(spec) << spec.error().message;
    std::optional<Task> made;
    journal_.create_task(*spec, "", [&](Result<Created> created) {
      ASSERT_TRUE(created) << created.error().message;
      made = created->task;
    });
    settle();
    return *made;
  }
  Result<Appended> post(const std::string& id, const std::string& event) { return append(id, event); }
  Result<Submitted> submit(const std::string& task, const std::string& command) {
    auto decoded = decode_command(command);
    EXPECT_TRUE(decoded) << decoded.error().message;
    decoded->by = "ada";
    std::optional<Result<Submitted>> answer;
    steering_->commands().submit(task, *decoded, [&](Result<Submitted> submitted) { answer = std::move(submitted); });
    settle();
    return std::move(*answer);
  }
  // Returns "state/reason" of the answer, or the error's reason.
  std::string outcome(const std::string& task, const std::string& command) {
    auto submitted = submit(task, command);
    if (!submitted) return submitted.error().reason;
    return std::string(name(submitted->state)) + (submitted->reason.empty() ? "" : "/" + submitted->reason);
  }
  Result<std::optional<Claim>> claim(const ClaimRequest& request) {
    std::optional<Result<std::optional<Claim>>> answer;
    steering_->claims().claim(request, [&](Result<std::optional<Claim>> claimed) { answer = std::move(claimed); });
    settle();
    EXPECT_TRUE(answer.has_value()) << "the claim is parked";
    return answer ? std::move(*answer) : Result<std::optional<Claim>>(std::nullopt);
  }
  static ClaimRequest runner(const std::string& id, const std::string& task = "") {
    ClaimRequest request;
    request.runner = id;
    request.agents = {"claude"};
    request.task = task;
    return request;
  }

  TaskState state(const std::string& id) { return journal_.store().row(id)->state; }
  std::string command_state_of(const std::string& task, const std::string& id) {
    TaskState now = state(task);
    const TaskCommand* command = find_command(now, id);
    if (command == nullptr) return "unknown";
    return std::string(name(command->state)) + (command->reason.empty() ? "" : "/" + command->reason);
  }
  // The types of a task's events, in order.
  std::string log_of(const std::string& id) {
    std::string types;
    auto page = journal_.store().read(id, 0, {});
    for (const auto& batch : page->batches) {
      for (EventType type : batch->types) types += (types.empty() ? "" : " ") + std::string(name(type));
    }
    return types;
  }

  SystemRandom random_;
  Redactor redactor_ = std::move(*Redactor::create({}));
  SteeringConfig config_;
  std::unique_ptr<Steering> steering_;
};

}  // namespace shepherd
