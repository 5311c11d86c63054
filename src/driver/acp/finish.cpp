#include <algorithm>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/limits.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

std::string last_words(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

std::string failure_words(const ExitFacts& exit, std::string_view stderr_tail, bool opened) {
  std::string why = "The agent " + how_it_ended(exit);
  why += opened ? " in the middle of a turn" : " before its session was open";
  std::string said = last_words(stderr_tail);
  return said.empty() ? why : why + ": " + said;
}

}  // namespace

Verdict AcpAgent::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  emitted_ = 1;  // no record is at hand
  add_log(out, errors_.flush(), "stderr", hints_.session_id);
  close_block(out);
  Hints::Turn last_turn = std::exchange(hints_.turn, Hints::Turn::none);
  while (!asks_.empty()) answer_ask(std::string(asks_.begin()->first), "expired", "the agent has ended", "", out);
  end_calls("cancelled", out);
  hints_.turn = last_turn;
  constexpr std::string_view kGone = "the agent ended first";
  auto refuse = [&](const std::string& id) {
    if (!id.empty()) out.settle({id, CommandState::refused, std::string(kGone)});
  };
  for (const auto& [id, sent] : std::exchange(sent_, {})) refuse(sent.command_id);
  for (const auto& [call, command] : std::exchange(decisions_, {})) refuse(command);
  for (const Held& held : std::exchange(held_, {})) refuse(held.command.id);
  refuse(std::exchange(interrupts_, ""));
  // A stop whose agent is gone has been heeded, whatever it still managed to say.
  if (!stop_.empty()) out.settle({std::exchange(stop_, ""), CommandState::acknowledged, ""});
  hosted_.clear();
  settings_.clear();
  if (usage_.has_untold()) {
    std::string data = usage_.tell(false, "no_result");
    EventParts parts = step(EventType::usage);
    parts.summary = "Used by a turn that did not end by itself";
    parts.data = data;
    add_event(out, parts);
  }
  Verdict judged = verdict(exit);
  tell_failure(judged, exit, out);
  return judged;
}

Verdict AcpAgent::verdict(const ExitFacts& exit) const {
  Verdict verdict;
  bool mid_turn = in_turn();
  if (ending_ && !mid_turn) {
    // The agent's own word counts: some end with an error code when their input is closed. A crash is one all the same.
    bool crashed = exit.signal != 0 && !exit.by_runner && !stopping_;
    bool good = ending_->good && !crashed;
    verdict.state = good ? State::completed : ending_->aborted ? State::cancelled : State::failed;
    verdict.message = ending_->aborted ? "interrupted" : ending_->text;
    if (ending_->good && crashed) verdict.message = "The agent " + how_it_ended(exit);
    return verdict;
  }
  if (!mid_turn && exit.code == 0 && exit.signal == 0) return verdict;
  verdict.state = State::failed;
  verdict.message = failure_words(exit, stderr_tail_, prompted_);
  return verdict;
}

// A turn that failed has said so itself, and so has a session that was not opened. Where the runner or an operator made
// it end, it is they who say why.
void AcpAgent::tell_failure(const Verdict& verdict, const ExitFacts& exit, Actions& out) {
  if (verdict.state != State::failed || told_failure_ || exit.by_runner || stopping_) return;
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", "agent_failed");
    object.flag("fatal", true);
    object.flag("recoverable", false);
    object.text("message", event_text(verdict.message));
  });
  EventParts parts = step(EventType::error);
  std::string summary = one_line(verdict.message, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  add_event(out, parts);
}

Hints AcpAgent::hints() const {
  Hints hints = hints_;
  auto words = std::ranges::count_if(sent_, [](const auto& each) {
    return each.second.what == Sent::What::prompt || each.second.what == Sent::What::steer;
  });
  hints.open_words = static_cast<std::size_t>(words) + held_.size();
  hints.queued_words = held_.size();
  hints.cost_usd = usage_.cost_usd();
  auto soonest = [&](std::optional<std::int64_t> at) {
    if (at && (!hints.tick_at_ms || *at < *hints.tick_at_ms)) hints.tick_at_ms = at;
  };
  soonest(errors_.due_at_ms());
  soonest(usage_due_ms());
  if (block_ && !in_turn()) soonest(block_->changed_ms + kTextJoinWait.count());
  for (const AcpCall& call : calls_.open()) {
    if (!call.told && call.has_input()) soonest(call.changed_ms + kAcpInputWait.count());
  }
  return hints;
}

}  // namespace shepherd
