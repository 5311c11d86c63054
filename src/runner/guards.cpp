#include "runner/guards.h"

namespace shepherd {
namespace {

std::string turns_text(std::int64_t turns) {
  return std::to_string(turns) + (turns == 1 ? " turn" : " turns");
}

}  // namespace

std::optional<Breach> breach_of(const TaskOrder& order, const Hints& hints, const AgentTraits& traits,
                                std::int64_t elapsed_ms) {
  if (order.timeout_seconds > 0 && elapsed_ms >= order.timeout_seconds * 1'000) {
    return Breach{EndCause::timed_out, "timed_out", "timed out after " + std::to_string(order.timeout_seconds) + " s"};
  }
  bool spent = order.budget_usd > 0 && hints.cost_usd.value_or(0) >= order.budget_usd;
  // An idle agent spends nothing more.
  if (spent && hints.turn == Hints::Turn::running) {
    return Breach{EndCause::over_budget, "budget_exhausted", "the budget is used up"};
  }
  bool in_turn = hints.turn == Hints::Turn::running || hints.turn == Hints::Turn::waiting;
  bool capped = order.max_turns > 0 && traits.max_turns == Means::runner;
  if (capped && in_turn && hints.turns >= static_cast<std::uint64_t>(order.max_turns)) {
    return Breach{EndCause::turns_used, "max_turns",
                  "Reached the maximum number of turns: the task allows " + turns_text(order.max_turns)};
  }
  return std::nullopt;
}

std::string remark_on_bounds(const TaskOrder& order, const AgentTraits& traits) {
  std::string remark;
  auto add = [&](std::string_view text) { remark.append(remark.empty() ? "" : " ").append(text); };
  if (order.max_turns > 0 && traits.max_turns == Means::runner) {
    add("This agent has no maximum of turns of its own. The runner stops it when it begins a turn after " +
        turns_text(order.max_turns) + "; a turn is one message to the agent and all its work on it.");
  } else if (order.max_turns > 0 && traits.max_turns == Means::none) {
    add("This agent has no turns, so their maximum means nothing to it.");
  }
  if (order.budget_usd > 0 && traits.budget == Means::none) {
    add(traits.use == ToldUse::none ? "This agent does not say what it uses, so the budget cannot be kept."
                                    : "This agent says what it used only at its end, so the budget cannot be kept.");
  }
  return remark;
}

}  // namespace shepherd
