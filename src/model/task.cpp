#include "model/task.h"

#include <array>

namespace shepherd {
namespace {

struct StateRow {
  std::string_view name;
  std::string_view phase;
};

constexpr std::array<StateRow, 10> kStates{{
    {"queued", "Pending"},
    {"starting", "Pending"},
    {"running", "Running"},
    {"waiting_for_input", "Running"},
    {"paused", "Running"},
    {"interrupted", "Running"},
    {"completed", "Succeeded"},
    {"failed", "Failed"},
    {"timed_out", "TimedOut"},
    {"cancelled", "Cancelled"},
}};

}  // namespace

Usage& Usage::operator+=(const Usage& part) {
  cost_usd += part.cost_usd;
  input_tokens += part.input_tokens;
  output_tokens += part.output_tokens;
  cache_read_tokens += part.cache_read_tokens;
  cache_write_tokens += part.cache_write_tokens;
  api_calls += part.api_calls;
  tool_uses += part.tool_uses;
  turns += part.turns;
  unpriced = unpriced || part.unpriced;
  return *this;
}

std::string_view name(State state) {
  return kStates[static_cast<std::size_t>(state)].name;
}

std::string_view phase(State state) {
  return kStates[static_cast<std::size_t>(state)].phase;
}

std::optional<State> state_named(std::string_view name) {
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (kStates[i].name == name) return static_cast<State>(i);
  }
  return std::nullopt;
}

bool is_terminal(State state) {
  return state >= State::completed;
}

}  // namespace shepherd
