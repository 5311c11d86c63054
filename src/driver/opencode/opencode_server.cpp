#include "driver/opencode/opencode_server.h"

#include <algorithm>
#include <utility>

#include "driver/limits.h"

namespace shepherd {

void OpenCodeServer::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  ++hints_.records;
  if (!events_.read(line, now_ms, opencode_looks_into, out)) return;
  std::size_t before = out.shown();
  if (events_.json().find("event").kind == JsonKind::object) {
    event(out);
  } else if (events_.json().find("answer").kind == JsonKind::object) {
    answered(out);
  } else if (!is_true(events_.json().find("open"))) {
    events_.unknown(out, events_.json().string("event"));
  }
  if (out.shown() == before) ++hints_.passed_over;
}

void OpenCodeServer::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  errors_.line(line, now_ms, session_, out);
}

void OpenCodeServer::tick(std::int64_t now_ms, Actions& out) {
  errors_.tick(now_ms, session_, out);
  events_.without_record(now_ms);
  if (in_turn() && now_ms - usage_told_ms_ >= kUsagePause.count()) tell_usage(false, out);
}

Verdict OpenCodeServer::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  events_.without_record(now_ms);
  errors_.finish(session_, out);
  expire_all(out);
  constexpr std::string_view kGone = "the agent ended first";
  for (const Word& word : words_) {
    if (word.taken_up || word.command_id.empty()) continue;
    out.settle({word.command_id, CommandState::refused, std::string(kGone)});
  }
  for (const auto& [id, request] : requests_) {
    if (request.command_id.empty() || request.what == Asked::prompt) continue;
    // A stop whose agent is gone has been heeded.
    out.settle({request.command_id, request.stops ? CommandState::acknowledged : CommandState::refused,
                request.stops ? "" : std::string(kGone)});
  }
  for (const auto& [approval, command_id] : replies_) {
    bool asked = std::ranges::any_of(requests_, [&](const auto& each) { return each.second.command_id == command_id; });
    if (!asked) out.settle({command_id, CommandState::acknowledged, ""});  // the service took it
  }
  for (const Command& held : held_) out.settle({held.id, CommandState::refused, std::string(kGone)});
  Verdict judged = verdict(exit);
  if (usage_.has_untold()) tell_usage(true, out);
  // A turn that failed has said so; that the run has failed is known only now.
  if (judged.state == State::failed && !exit.by_runner && !stopping_) {
    bool of_turn = !failure_code_.empty() && (in_turn() || (ending_ && !ending_->good));
    events_.error(out, of_turn ? std::string_view(failure_code_) : "agent_failed", judged.message, true);
  }
  hints_.turn = Hints::Turn::idle;
  return judged;
}

Verdict OpenCodeServer::verdict(const ExitFacts& exit) const {
  Verdict verdict;
  if (ending_ && !in_turn()) {
    bool good = ending_->good && exit.good();
    verdict.state = good ? State::completed : ending_->aborted ? State::cancelled : State::failed;
    verdict.message = ending_->good && !good ? why_it_ended(exit, errors_, false) : ending_->text;
    return verdict;
  }
  verdict.state = State::failed;
  verdict.message = !failure_.empty()      ? failure_
                    : exit.message.empty() ? why_it_ended(exit, errors_, in_turn() && !session_.empty())
                                           : exit.message;
  return verdict;
}

Hints OpenCodeServer::hints() const {
  Hints hints = hints_;
  hints.open_words = words_.size() + held_.size();
  hints.tick_at_ms = errors_.due_at_ms();
  if (in_turn() && usage_.has_untold()) {
    std::int64_t due = usage_told_ms_ + kUsagePause.count();
    if (!hints.tick_at_ms || due < *hints.tick_at_ms) hints.tick_at_ms = due;
  }
  return hints;
}

}  // namespace shepherd
