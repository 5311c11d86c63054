// Steering over a memory store, a clock moved by hand and a journal cranked by hand. For this folder's tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/manual_executor.h"
#include "model/task_commands.h"
#include "model/wire_json.h"
#include "steering/steering.h"
#include "store/memory/memory_store.h"

namespace shepherd {

// A queue cranked by hand, until `at_once`: stop() waits for what it posts, and nobody but its thread could crank.
// Threads: caller.
class StoppableExecutor final : public Executor {
 public:
  void post(Work work) override {
    if (at_once) return work();
    queue.post(std::move(work));
  }
  ManualExecutor queue;
  bool at_once = false;
};

class SteeringFixture : public testing::Test {
 protected:
  void SetUp() override { restart(); }
  void TearDown() override { stop(); }

  void restart() {
    stop();
    auto opened = Steering::open({journal_, &io_, lanes_, clock_, random_, metrics_, &redactor_}, config_);
    ASSERT_TRUE(opened) << opened.error().message;
    steering_ = std::move(*opened);
    settle();
  }
  void stop() {
    if (steering_ == nullptr) return;
    settle();
    io_.at_once = true;
    steering_->stop();
    io_.at_once = false;
    settle();
    steering_.reset();
  }
  void settle() {
    for (bool busy = true; busy;) {
      busy = journal_.step();
      busy = lanes_.run_one() || busy;
      busy = io_.queue.run_one() || busy;
    }
  }
  void pass_ms(std::int64_t ms) {
    clock_.advance_ms(ms);
    steering_->tick();
    settle();
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
    steering_->created(*made);
    settle();
    return *made;
  }
  Result<Appended> post(const std::string& id, const std::string& event) {
    Intake intake;
    intake.now_ms = clock_.wall_ms();
    AppendRequest request;
    request.task = id;
    request.received_ms = clock_.wall_ms();
    request.drafts = *decode_events(event, Framing::json, intake);
    std::optional<Result<Appended>> answer;
    journal_.append(std::move(request), [&](Result<Appended> appended) { answer = std::move(appended); });
    settle();
    return std::move(*answer);
  }
  Result<Submitted> submit(const std::string& task, const std::string& command) {
    auto decoded = decode_command(command);
    EXPECT_TRUE(decoded) << decoded.error().message;
    decoded->by = "ada";
    std::optional<Result<Submitted>> answer;
    steering_->commands().submit(task, *decoded, [&](Result<Submitted> submitted) { answer = std::move(submitted); });
    settle();
    return std::move(*answer);
  }
  // "state/reason" of the answer, or the error's reason.
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

  TaskState state(const std::string& id) { return journal_.store().task(id)->state; }
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
    for (const auto& run : page->runs) {
      for (EventType type : run->types) types += (types.empty() ? "" : " ") + std::string(name(type));
    }
    return types;
  }

  ManualClock clock_;
  SystemRandom random_;
  MetricRegistry metrics_;
  Fault fault_ = Fault::none;
  MemoryStore store_{[this] { return fault_; }};
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ManualExecutor lanes_;
  StoppableExecutor io_;
  Journal journal_{store_, hub_, bus_, lanes_, clock_, metrics_, false};
  Redactor redactor_ = std::move(*Redactor::create({}));
  SteeringConfig config_;
  std::unique_ptr<Steering> steering_;
};

}  // namespace shepherd
