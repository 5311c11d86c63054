#include "runner/guards.h"

namespace shepherd {

std::optional<Breach> breach_of(const TaskOrder& order, const Hints& hints, std::int64_t elapsed_ms) {
  if (order.timeout_seconds > 0 && elapsed_ms >= order.timeout_seconds * 1'000) {
    return Breach{EndCause::timed_out, "timed_out", "timed out after " + std::to_string(order.timeout_seconds) + " s"};
  }
  bool spent = order.budget_usd > 0 && hints.cost_usd.value_or(0) >= order.budget_usd;
  // An idle agent spends nothing more.
  if (spent && hints.turn == Hints::Turn::running) {
    return Breach{EndCause::over_budget, "budget_exhausted", "the budget is used up"};
  }
  return std::nullopt;
}

}  // namespace shepherd
