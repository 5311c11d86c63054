#include <algorithm>
#include <utility>

#include "driver/claude/claude_code.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

// The program knows less than it was asked for: an old version, or one that wants other options together.
bool did_not_know_the_options(std::string_view errors) {
  return errors.find("unknown option") != std::string_view::npos ||
         errors.find("requires --verbose") != std::string_view::npos ||
         errors.find("Invalid output format") != std::string_view::npos;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

// What it said last is often why; a signal it cannot have said anything about.
std::string why_it_failed(const ExitFacts& exit, std::string_view stderr_tail, bool mid_turn) {
  std::string said = last_line(stderr_tail);
  if (exit.signal == 0 && !said.empty()) return said;
  std::string why = "the agent " + how_it_ended(exit);
  if (mid_turn) why += " in the middle of a turn";
  return said.empty() ? why : why + ": " + said;
}

}  // namespace

// `--output-format json --verbose` prints all lines as one array, at the end.
void ClaudeCode::batch_array(std::string_view array, Actions& out) {
  std::string all(array);
  std::string_view text = all;
  std::size_t at = 1;
  while (at < text.size() && text[at] != ']') {
    if (text[at] == ',') {
      ++at;
      continue;
    }
    std::size_t end = end_of_value(text, at);
    if (end == std::string_view::npos) return;
    stream_record(text.substr(at, end - at), out);
    at = end;
  }
}

// One document, however many lines it was printed on. When it is none, its lines may still be.
void ClaudeCode::finish_batch(Actions& out) {
  std::string all = std::exchange(batch_, {});
  if (all.empty()) return;
  if (JsonSlices().parse(all, [](std::string_view, std::string_view) { return false; })) return stream_record(all, out);
  std::string_view rest = all;
  while (!rest.empty()) {
    std::size_t end = rest.find('\n');
    if (end > 0) stream_record(rest.substr(0, end), out);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// The text format has nothing but the last words, and an exit code that says whether they are an error.
void ClaudeCode::finish_text(const ExitFacts& exit, Actions& out) {
  std::string_view text = batch_;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.empty()) return;
  bool failed = exit.code != 0 || exit.signal != 0;
  std::string_view kept = event_text(text);
  std::string data = object_text([&](JsonObject& object) {
    if (failed) {
      object.text("code", "agent_failed");
      object.flag("fatal", true);
      object.flag("recoverable", false);
    } else {
      object.text("text", kept);
    }
  });
  EventParts parts;
  parts.type = failed ? EventType::error : EventType::output;
  parts.timestamp_ms = now_ms_;
  std::string summary = one_line(kept, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, kept, text);
  add_event(out, parts, detail.raw_text(text).take());
  ending_ = Ending{!failed, false, std::string(kept)};
}

Verdict ClaudeCode::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  add_log(out, errors_.flush(), "stderr", hints_.session_id);
  if (format_ == OutputFormat::batch) finish_batch(out);
  if (format_ == OutputFormat::text) finish_text(exit, out);
  Hints::Turn last_turn = std::exchange(hints_.turn, Hints::Turn::none);
  while (!talk_.approvals.empty()) {
    close_approval(talk_.approvals.first(), "expired", "the agent has ended", out);
  }
  hints_.turn = last_turn;
  constexpr std::string_view kGone = "the agent ended first";
  for (const auto& [uuid, message] : talk_.messages) {
    if (message.taken_up || message.command_id.empty()) continue;
    out.settle({message.command_id, CommandState::refused, std::string(kGone)});
  }
  for (const auto& [request, asked] : talk_.requests) {
    // A stop whose agent is gone has been heeded, whatever it still managed to say.
    bool stopped = asked.kind == CommandKind::stop;
    out.settle({asked.command_id, stopped ? CommandState::acknowledged : CommandState::refused,
                stopped ? "" : std::string(kGone)});
  }
  for (const Command& held : talk_.held) {
    out.settle({held.id, CommandState::refused, std::string(kGone)});
  }
  talk_ = {};
  if (usage_.has_unreported()) {
    EventParts parts;
    parts.type = EventType::usage;
    parts.timestamp_ms = now_ms_;
    parts.summary = "Used by a turn that did not end by itself";
    std::string data = usage_.data_without_result();
    parts.data = data;
    parts.session_id = hints_.session_id;
    add_event(out, parts);
  }
  Verdict judged = verdict(exit);
  tell_failure(judged, exit, out);
  return judged;
}

// A turn that failed has said so itself. A program that crashed has not, nor one that did not begin; where the runner
// or an operator made it end, it is they who say why. The end of a transcript is the end of a file.
void ClaudeCode::tell_failure(const Verdict& verdict, const ExitFacts& exit, Actions& out) {
  if (verdict.state != State::failed || verdict.retry || exit.by_runner || stopping_) return;
  if (exit.good() && !lives_) return;
  bool told = !last_error_.empty() || (ending_ && !ending_->good && !in_turn());
  if (told) return;
  EventParts parts;
  parts.type = EventType::error;
  parts.timestamp_ms = now_ms_;
  parts.session_id = hints_.session_id;
  std::string summary = one_line(verdict.message, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = R"({"code":"agent_failed","fatal":true,"recoverable":false})";
  add_event(out, parts);
}

Verdict ClaudeCode::verdict(const ExitFacts& exit) const {
  Verdict verdict;
  bool mid_turn = hints_.turn == Hints::Turn::running || hints_.turn == Hints::Turn::waiting;
  if (ending_ && !mid_turn) {
    bool good = ending_->good && exit.good();
    verdict.state = good ? State::completed : ending_->aborted ? State::cancelled : State::failed;
    verdict.message = ending_->aborted ? "interrupted" : ending_->text;
    if (!good && (ending_->good || verdict.message.empty())) {
      verdict.message = why_it_failed(exit, stderr_tail_, mid_turn);
    }
    return verdict;
  }
  if (!mid_turn && exit.code == 0 && exit.signal == 0) return verdict;
  verdict.state = State::failed;
  verdict.message = why_it_failed(exit, stderr_tail_, mid_turn);
  bool silent = hints_.records == 0 && exit.signal == 0;
  if (silent && format_ != OutputFormat::text && did_not_know_the_options(stderr_tail_)) {
    verdict.retry = simpler_launch(stderr_tail_);
  }
  return verdict;
}

Hints ClaudeCode::hints() const {
  Hints hints = hints_;
  hints.open_words = talk_.messages.size() + talk_.held.size();
  hints.queued_words = static_cast<std::size_t>(std::ranges::count_if(
      talk_.messages, [](const auto& each) { return each.second.listed && !each.second.taken_up; }));
  hints.tick_at_ms = errors_.due_at_ms();
  if (auto due = usage_due_ms(); due && (!hints.tick_at_ms || *due < *hints.tick_at_ms)) hints.tick_at_ms = due;
  return hints;
}

}  // namespace shepherd
