#include "demo/agent.h"

#include <cstdlib>
#include <stdexcept>

namespace scripted {

Agent::Agent(const Options& options, Script script)
    : options_(options), steps_(std::move(script.steps)), voice_(options_, script.version) {
  session_states_ = std::getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") != nullptr;
}

int Agent::run() {
  process_began();
  if (!options_.messages) {
    Message prompt;
    prompt.text = options_.prompt.empty() ? input_.read_all() : options_.prompt;
    turn(prompt);
    voice_.finish();
    return ending_.failed ? 1 : 0;
  }
  for (;;) {
    while (waiting_.empty() && !input_ended_ && background_.empty()) pump(Input::kForever);
    if (!waiting_.empty()) {
      Message next = std::move(waiting_.front());
      waiting_.pop_front();
      turn(std::move(next));
    } else if (!background_.empty()) {
      pump(background_.front().ends_ns);
      if (waiting_.empty() && end_background()) turn(std::nullopt);
    } else if (!ignores("eof")) {
      return ending_.failed && !interrupted_ ? 1 : 0;
    } else {
      pump(Input::kForever);
    }
  }
}

// Without a message, the agent starts the turn itself, because a background task has ended.
void Agent::turn(std::optional<Message> message) {
  ending_ = {};
  interrupted_ = in_tool_ = false;
  in_turn_ = true;
  taken_.clear();
  if (message) {
    begin(*message);
  } else {
    ending_.origin = "task-notification";
    voice_.init();
    voice_.text("The background task has ended.");
  }
  perform_all(steps_);
  end_turn();
}

void Agent::begin(const Message& message) {
  voice_.lifecycle(message.uuid, "started");
  taken_.push_back(message.uuid);
  if (session_states_ && !options_.messages) voice_.session_state("running");
  voice_.init();
  if (options_.messages) voice_.replay(message.content, message.uuid);
  if (steps_.empty() || script_in(message.text)) react(message, "You said: ");
}

void Agent::perform_all(Steps& steps) {
  while (!steps.empty() && !over()) {
    json::object step = std::move(steps.front());
    steps.pop_front();
    if (step.contains("end")) return;
    perform(step);
    pump(0);
  }
  if (!over()) return;
  while (!steps.empty()) {  // drops the remaining steps of this turn
    bool end = steps.front().contains("end");
    steps.pop_front();
    if (end) break;
  }
}

void Agent::perform(const json::object& step) {
  if (step.contains("say")) return voice_.text(text(step, "say"));
  if (step.contains("think")) return voice_.thinking(text(step, "think"));
  if (step.contains("tool")) return call_tool(step);
  if (step.contains("ask")) return ask_question(step);
  if (step.contains("agent")) return sub_agent(step);
  if (step.contains("background")) return start_background(step);
  if (step.contains("sleep")) {
    return pump(monotonic_ns() + static_cast<std::int64_t>(number(step, "sleep") * 1e6));
  }
  if (step.contains("wait")) {
    while (waiting_.empty() && !over() && !input_ended_) pump(Input::kForever);
    return take_up_messages();
  }
  if (step.contains("repeat")) {
    for (double left = number(step, "repeat"); left > 0 && !over(); --left) {
      Steps again = steps_of(step.if_contains("steps"));
      perform_all(again);
    }
    return;
  }
  if (step.contains("retry")) {
    return voice_.system("api_retry", {{"attempt", number(step, "attempt", 1)},
                                       {"max_retries", 10},
                                       {"retry_delay_ms", number(step, "delay", 500)},
                                       {"error_status", number(step, "retry")},
                                       {"error", text(step, "error", "overloaded")}});
  }
  if (step.contains("fail")) {
    ending_.failed = true;
    ending_.subtype = text(step, "fail");
    ending_.error = text(step, "error", "scripted failure");
    ending_.reason = text(step, "reason", ending_.subtype == "success" ? "api_error" : "failed");
    return;
  }
  if (!perform_more(step)) throw std::runtime_error("unknown step: " + json::serialize(step));
}

// Messages that arrived during a turn become part of it, except those for the next turn.
void Agent::take_up_messages() {
  std::deque<Message> later;
  while (!waiting_.empty() && !over()) {
    Message message = std::move(waiting_.front());
    waiting_.pop_front();
    if (message.priority == "later") {
      later.push_back(std::move(message));
      continue;
    }
    voice_.replay(message.content, message.uuid);
    voice_.lifecycle(message.uuid, "started");
    taken_.push_back(message.uuid);
    react(message, "I see your message: ");
  }
  waiting_.insert(waiting_.begin(), later.begin(), later.end());
}

// A script in a message replaces the remaining steps of this turn; any other message is repeated.
void Agent::react(const Message& message, std::string_view words) {
  auto steps = script_in(message.text);
  if (!steps) return voice_.text(std::string(words) + message.text);
  while (!steps_.empty() && !steps_.front().contains("end")) steps_.pop_front();
  steps_.insert(steps_.begin(), steps->begin(), steps->end());
}

bool Agent::limit_reached() const {
  return (options_.max_turns > 0 && voice_.model_calls() > options_.max_turns) ||
         (options_.budget_usd > 0 && voice_.cost_usd() > options_.budget_usd);
}

void Agent::end_turn() {
  in_turn_ = false;
  if (interrupted_) {
    voice_.end_message("");
    voice_.user_text(in_tool_ ? "[Request interrupted by user for tool use]" : "[Request interrupted by user]");
    ending_ = {"error_during_execution", in_tool_ ? "aborted_tools" : "aborted_streaming", "interrupted", true, ""};
  } else if (limit_reached()) {
    bool turns = options_.max_turns > 0 && voice_.model_calls() > options_.max_turns;
    ending_.failed = true;
    ending_.subtype = turns ? "error_max_turns" : "error_max_budget_usd";
    ending_.reason = turns ? "max_turns" : "budget_exhausted";
    ending_.error = turns ? "Reached maximum number of turns" : "Reached maximum budget";
  }
  voice_.result(ending_);
  for (const std::string& uuid : taken_) voice_.lifecycle(uuid, interrupted_ ? "cancelled" : "completed");
  if (session_states_) voice_.session_state("idle");
  if (leave_after_turn_ || limit_reached()) leave(limit_reached() ? 1 : 0);
}

}  // namespace scripted
