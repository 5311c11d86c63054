#include "views/needs.h"

#include <array>
#include <limits>
#include <tuple>

#include "model/task_commands.h"
#include "model/wire_json.h"
#include "views/limits.h"

namespace shepherd {
namespace {

TaskNeed need_of(const TaskRow& task, NeedKind kind, std::string summary) {
  const auto& [spec, state, created_ms] = task;
  TaskNeed need;
  need.task = spec.id;
  need.title = spec.title;
  need.agent = spec.agent;
  need.model = spec.model.empty() ? state.model : spec.model;
  need.kind = kind;
  need.since_ms = state.last_event_ms;
  need.summary = std::move(summary);
  need.sequence = need.last_sequence = state.last_sequence;
  return need;
}

std::string first_of(const std::string& wanted, const std::string& otherwise) {
  return wanted.empty() ? otherwise : wanted;
}

bool answered(const TaskState& state, const TaskApproval& approval) {
  return answer_to(state, approval.id) != nullptr;
}

}  // namespace

std::string_view name(NeedKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"approval", "question", "waiting", "stalled", "failed"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<TaskNeed> needs_of(const TaskRow& task, std::int64_t now_ms, std::chrono::milliseconds stall) {
  const TaskState& state = task.state;
  std::vector<TaskNeed> needs;
  if (state.state == State::failed || state.state == State::timed_out) {
    if (now_ms - state.completed_ms > kInboxShowsFailed.count()) return needs;
    needs.push_back(need_of(task, NeedKind::failed, first_of(state.error, state.message)));
    needs.back().since_ms = state.completed_ms;
    return needs;
  }
  if (is_terminal(state.state)) return needs;
  for (const TaskApproval& approval : state.approvals) {
    if (answered(state, approval)) continue;
    NeedKind kind = approval.kind == "question" ? NeedKind::question : NeedKind::approval;
    needs.push_back(need_of(task, kind, approval.summary));
    needs.back().sequence = approval.sequence;
    needs.back().approval = approval;
  }
  // While the agent waits for an approval, even an answered one, the task has no other needs.
  if (!state.approvals.empty()) return needs;
  if (state.state == State::waiting_for_input || state.state == State::interrupted) {
    needs.push_back(need_of(task, NeedKind::waiting, first_of(state.message, state.activity)));
  } else if (state.state == State::running && now_ms - state.last_event_ms >= stall.count()) {
    needs.push_back(need_of(task, NeedKind::stalled, first_of(state.activity, state.message)));
  }
  return needs;
}

bool more_urgent(const TaskNeed& a, const TaskNeed& b) {
  auto key = [](const TaskNeed& need) {
    bool asks = need.approval.has_value();
    auto group = asks ? 0 : static_cast<int>(need.kind);
    std::int64_t never = std::numeric_limits<std::int64_t>::max();
    std::int64_t deadline = asks && need.approval->expires_ms != 0 ? need.approval->expires_ms : never;
    std::int64_t age = need.kind == NeedKind::failed ? -need.since_ms : need.since_ms;
    return std::tuple(group, deadline, age, std::string_view(need.task), need.sequence);
  };
  return key(a) < key(b);
}

bool can_be_dismissed(NeedKind kind) {
  return kind == NeedKind::stalled || kind == NeedKind::failed;
}

}  // namespace shepherd
