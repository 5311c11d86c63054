#include <utility>

#include "driver/codex/codex.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/condense.h"

namespace shepherd {
namespace {

// "Reconnecting... 1/2" -> "1 of 2"; empty when it says no such thing.
std::string attempts_in(std::string_view message) {
  std::size_t slash = message.rfind('/');
  if (slash == std::string_view::npos) return {};
  constexpr std::string_view kDigits = "0123456789";
  std::size_t begin = message.find_last_not_of(kDigits, slash - 1);
  std::string_view first = message.substr(begin + 1, slash - begin - 1);
  std::string_view last = message.substr(slash + 1);
  if (first.empty() || last.empty() || last.find_first_not_of(kDigits) != std::string_view::npos) return {};
  return std::string(first) + " of " + std::string(last);
}

std::string last_line_of(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

// A wrong key is retried: without this it looks like an agent that thinks.
void Codex::retry(std::string_view message, std::string_view cause, std::optional<std::uint64_t> http, Actions& out) {
  std::string attempts = attempts_in(message);
  std::string summary = "The model's API ";
  summary.append(http ? "answered " + std::to_string(*http) : "failed");
  if (!cause.empty()) summary.append(" (").append(event_text(cause)).append(")");
  summary.append(attempts.empty() ? "; trying again" : "; retry " + attempts);
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", "api_retry");
    object.flag("fatal", false);
    object.flag("recoverable", true);
    if (http) object.number("status", *http);
    object.text_unless_empty("cause", event_text(cause));
  });
  EventParts parts = step(EventType::error);
  std::string line = one_line(summary, kTextSummaryCharacters);
  parts.summary = line;
  parts.data = data;
  emit(out, parts);
}

// Why a turn or the whole run has failed; told once, though the agent says it twice.
void Codex::fatal(std::string_view message, std::string_view code, std::optional<std::uint64_t> http, Actions& out) {
  if (message.empty()) message = "The turn failed";
  std::string_view kept = event_text(message);
  if (kept == last_error_) return;
  last_error_ = kept;
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", code.substr(0, kMaxAgentIdBytes));
    object.flag("fatal", true);
    object.flag("recoverable", false);
    if (http) object.number("status", *http);
    if (characters_in(kept) > kTextSummaryCharacters) object.text("message", kept);
  });
  EventParts parts = step(EventType::error);
  std::string line = one_line(kept, kTextSummaryCharacters);
  parts.summary = line;
  parts.data = data;
  emit(out, parts);
}

// All that the turn has changed in files, as one diff.
void Codex::tell_changes(Actions& out) {
  std::string diff = std::exchange(diff_, {});
  if (diff.empty()) return;
  std::size_t files = 0;
  for (std::size_t at = diff.find("diff --git "); at != std::string::npos; at = diff.find("diff --git ", at + 1))
    ++files;
  std::string_view kept = event_text(diff);
  std::string data = object_text([&](JsonObject& object) { object.text("text", kept); });
  EventParts parts = step(EventType::output);
  std::string summary = "Changed " + std::to_string(files) + (files == 1 ? " file" : " files");
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, kept, diff);
  emit(out, parts, std::move(detail));
}

void Codex::end_turn(std::string_view outcome, std::optional<std::int64_t> took_ms, Actions& out) {
  bool aborted = outcome == "interrupted";
  bool failed = outcome == "failed";
  // A command may outlive a turn that ended well; its end is told when it comes.
  if (aborted || failed) close_calls(aborted ? "Interrupted" : "The turn failed", out);
  while (!talk_.approvals.empty()) {
    close_approval(talk_.approvals.first(), "expired", "withdrawn by the agent", out);
  }
  tell_changes(out);
  usage_.turn();
  std::string data = usage_.tell(
      model_, object_text([&](JsonObject& object) { object.text("outcome", outcome.substr(0, kMaxAgentIdBytes)); }));
  EventParts parts = step(EventType::usage);
  std::string summary =
      "Turn " + std::to_string(usage_.turns()) + " ended; " + std::to_string(usage_.tokens()) + " tokens so far";
  parts.summary = summary;
  parts.data = data;
  parts.duration_ms = took_ms;
  emit(out, parts);
  Ending ending;
  ending.good = !aborted && !failed;
  ending.aborted = aborted;
  ending.text = failed ? last_error_ : last_text_;
  ending_ = std::move(ending);
  if (!failed) last_error_.clear();
  turn_.clear();
  hints_.turn = Hints::Turn::idle;
  ++hints_.turns;
  hints_.interrupted = aborted;
  if (aborted) status(out, "Interrupted", "interrupted");
  forget_words(out);
  release_held(out);
}

void Codex::tell_usage(Actions& out) {
  auto due = usage_due_ms();
  if (!due || *due > now_ms_) return;
  usage_told_ms_ = now_ms_;
  EventParts parts;
  parts.type = EventType::usage;
  parts.timestamp_ms = now_ms_;
  parts.session_id = hints_.session_id;
  std::string data = usage_.tell(model_, R"({"partial":true})");
  std::string summary = std::to_string(usage_.tokens()) + " tokens so far";
  parts.summary = summary;
  parts.data = data;
  add_event(out, parts);
}

std::optional<std::int64_t> Codex::usage_due_ms() const {
  if (!in_turn() || !usage_.has_untold() || !lives_) return std::nullopt;
  return usage_told_ms_ + kUsagePause.count();
}

// Nothing more comes from the agent.
void Codex::settle_open(Actions& out) {
  Hints::Turn last_turn = std::exchange(hints_.turn, Hints::Turn::none);
  while (!talk_.approvals.empty()) {
    close_approval(talk_.approvals.first(), "expired", "the agent has ended", out);
  }
  hints_.turn = last_turn;
  constexpr std::string_view kGone = "the agent ended first";
  auto refuse = [&](const std::string& id) {
    if (!id.empty()) out.settle({id, CommandState::refused, std::string(kGone)});
  };
  for (const CodexWord& word : talk_.words) {
    if (!word.taken_up) refuse(word.command_id);
  }
  for (const auto& [id, request] : talk_.requests) {
    if (request.kind != CodexRequest::Kind::interrupt || request.command_id.empty()) continue;
    // A stop whose agent is gone has been heeded, whatever it still managed to say.
    if (request.stops) {
      out.settle({request.command_id, CommandState::acknowledged, ""});
    } else {
      refuse(request.command_id);
    }
  }
  for (const Command& held : talk_.held) refuse(held.id);
  for (const auto& [request, command] : talk_.decided) refuse(command);
  if (early_interrupt_) {
    bool stops = early_interrupt_->kind == CommandKind::stop;
    out.settle({early_interrupt_->id, stops ? CommandState::acknowledged : CommandState::refused,
                stops ? "" : std::string(kGone)});
  }
  early_interrupt_.reset();
  talk_ = {};
}

Verdict Codex::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  emitted_ = 1;  // no record is at hand
  parent_call_.clear();
  add_log(out, errors_.flush(), "stderr", hints_.session_id);
  settle_open(out);
  close_calls("The agent ended first", out);
  if (usage_.has_untold()) {
    EventParts parts = step(EventType::usage);
    parts.summary = "Used by a turn that did not end by itself";
    std::string data = usage_.tell(model_, R"({"outcome":"no_result"})");
    parts.data = data;
    emit(out, parts);
  }
  Verdict judged = verdict(exit);
  tell_failure(judged, exit, out);
  return judged;
}

Verdict Codex::verdict(const ExitFacts& exit) const {
  Verdict verdict;
  bool mid_turn = in_turn() || turn_asked_;
  std::string said = last_line_of(stderr_tail_);
  std::string why = "the agent " + how_it_ended(exit) + (mid_turn ? " in the middle of a turn" : "");
  // What it printed last is often why; a signal it cannot have said anything about.
  if (exit.signal != 0 && !said.empty()) why += ": " + said;
  if (exit.signal == 0 && !said.empty() && !mid_turn && !exit.good()) why = said;
  if (ending_ && !mid_turn) {
    bool good = ending_->good && exit.good();
    verdict.state = good ? State::completed : ending_->aborted ? State::cancelled : State::failed;
    verdict.message = ending_->aborted ? "interrupted" : ending_->text;
    if (!good && (ending_->good || verdict.message.empty())) verdict.message = why;
    return verdict;
  }
  if (!last_error_.empty()) {
    verdict.state = State::failed;
    verdict.message = last_error_;
    return verdict;
  }
  if (!mid_turn && exit.code == 0 && exit.signal == 0) return verdict;
  verdict.state = State::failed;
  verdict.message = why;
  return verdict;
}

// A turn that failed has said so itself. A program that crashed has not, nor one that did not begin; where the runner
// or an operator made it end, it is they who say why.
void Codex::tell_failure(const Verdict& verdict, const ExitFacts& exit, Actions& out) {
  if (verdict.state != State::failed || exit.by_runner || stopping_) return;
  if (exit.good() && !lives_) return;
  if (!last_error_.empty()) return;
  fatal(verdict.message, "agent_failed", std::nullopt, out);
}

Hints Codex::hints() const {
  Hints hints = hints_;
  hints.open_words = talk_.words.size() + talk_.held.size();
  hints.queued_words = talk_.held.size();
  if (turn_asked_ && hints.turn == Hints::Turn::idle) hints.turn = Hints::Turn::running;
  if (hints.turn == Hints::Turn::idle && !hints_.interrupted) hints.background_tasks = calls_.size();
  hints.tick_at_ms = errors_.due_at_ms();
  if (auto due = usage_due_ms(); due && (!hints.tick_at_ms || *due < *hints.tick_at_ms)) hints.tick_at_ms = due;
  return hints;
}

}  // namespace shepherd
