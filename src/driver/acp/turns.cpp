#include <cstdio>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/rpc_lines.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

void append_text_block(std::string& list, std::string_view text) {
  list.push_back(list.empty() ? '[' : ',');
  write_object(list, [&](JsonObject& object) {
    object.text("type", "text");
    object.text("text", text);
  });
}

struct Stop {
  std::string_view reason, words;
};
constexpr Stop kFailures[] = {
    {"refusal", "The agent refused to go on"},
    {"max_tokens", "The agent's answer reached the maximum number of tokens"},
    {"max_turn_requests", "The turn reached the agent's maximum number of requests to its model"},
};

}  // namespace

// A turn begins. The first one brings what the task knows besides its description.
void AcpAgent::prompt(std::string_view text, std::string command_id, Actions& out) {
  std::string blocks;
  bool first = hints_.turns == 0 && command_id.empty();
  if (first && !launched_.rules.empty()) append_text_block(blocks, "# Rules\n\n" + launched_.rules);
  append_text_block(blocks, text);
  if (first && !launched_.context.empty()) append_text_block(blocks, "Context:\n\n" + launched_.context);
  std::string params = object_text([&](JsonObject& object) {
    object.text("sessionId", hints_.session_id);
    object.json("prompt", blocks + "]");
  });
  send("session/prompt", params, {Sent::What::prompt, std::move(command_id), "", {}}, out);
  hints_.turn = Hints::Turn::running;
  hints_.interrupted = false;
  told_failure_ = false;
  usage_told_ms_ = now_ms_;
  if (usage_.turns() == 0) return;
  std::uint64_t turn = usage_.turns() + 1;
  emitted_ = 1;
  status(out, "Turn " + std::to_string(turn) + " started", "running", "\"turn\":" + std::to_string(turn));
}

// The agent works on the newest prompt: only one runs at a time.
void AcpAgent::taken_up(Actions& out) {
  for (auto& [id, sent] : sent_) {
    if (sent.what != Sent::What::prompt || sent.command_id.empty()) continue;
    out.settle({std::exchange(sent.command_id, ""), CommandState::acknowledged, ""});
  }
}

void AcpAgent::prompt_ended(const Sent& sent, const JsonNode& result, Actions& out) {
  if (!sent.command_id.empty()) out.settle({sent.command_id, CommandState::acknowledged, ""});
  close_block(out);
  std::string reason(record_.string(result, "stopReason").substr(0, kMaxAgentIdBytes));
  bool aborted = reason == "cancelled";
  end_calls(aborted ? "cancelled" : "", out);
  usage_.turn_ended(record_, result, agent_model_);
  Ending ending{reason == "end_turn", aborted, last_text_};
  if (!ending.good && !aborted) {
    std::string words = "The turn ended with " + (reason.empty() ? "no reason" : reason);
    for (const Stop& known : kFailures) {
      if (known.reason == reason) words = known.words;
    }
    ending.text = words;
    if (reason.empty()) reason = "no_stop_reason";
  }
  ending_ = ending;
  end_turn(aborted, reason, out);
}

void AcpAgent::prompt_failed(const Sent& sent, Actions& out) {
  if (!sent.command_id.empty()) out.settle({sent.command_id, CommandState::acknowledged, ""});
  close_block(out);
  std::string words = error_words();
  end_calls("failed", out);
  if (wants_login()) return login_required(words, out);
  // Some agents answer a cancelled prompt with an error.
  bool aborted = cancelling_;
  ending_ = Ending{false, aborted, words};
  end_turn(aborted, aborted ? "cancelled" : "prompt_failed", out);
}

void AcpAgent::end_turn(bool aborted, std::string_view outcome, Actions& out) {
  hints_.turn = Hints::Turn::idle;
  ++hints_.turns;
  hints_.interrupted = aborted;
  cancelling_ = false;
  // The turn cannot have ended while the agent waited for an answer.
  for (const auto& [call, command] : std::exchange(decisions_, {})) {
    out.settle({command, CommandState::acknowledged, ""});
  }
  cancel_asks("the turn is over", out);
  hints_.turn = Hints::Turn::idle;
  EventParts usage = step(EventType::usage);
  std::string summary = "Turn " + std::to_string(hints_.turns) + " ended";
  if (auto cost = usage_.cost_usd(); cost && *cost >= 0.00005) {
    char number[32];
    std::snprintf(number, sizeof number, "%.4f", *cost);
    summary.append("; $").append(number).append(" so far");
  }
  std::string data = usage_.tell(false, outcome);
  usage.summary = summary;
  usage.data = data;
  emit(out, usage);
  if (!ending_->good && !aborted) {
    told_failure_ = true;
    std::string error = object_text([&](JsonObject& object) {
      object.text("code", outcome);
      object.flag("fatal", held_.empty());
      object.flag("recoverable", !held_.empty());
      object.text("message", event_text(ending_->text));
    });
    EventParts parts = step(EventType::error);
    std::string line = one_line(ending_->text, kTextSummaryCharacters);
    parts.summary = line;
    parts.data = error;
    emit(out, parts);
  }
  if (aborted) status(out, "Interrupted", "interrupted");
  if (!interrupts_.empty()) {
    out.settle({std::exchange(interrupts_, ""), CommandState::acknowledged, aborted ? "" : "the turn ended by itself"});
  }
  if (stopping_) {
    if (!stop_.empty()) out.settle({std::exchange(stop_, ""), CommandState::acknowledged, ""});
    leave(out);
    return out.close_input();
  }
  release_held(out);
}

// What a running turn has used so far, when that is due.
void AcpAgent::tell_usage(Actions& out) {
  auto due = usage_due_ms();
  if (!due || *due > now_ms_) return;
  usage_told_ms_ = now_ms_;
  std::string summary = std::to_string(usage_.context_tokens()) + " tokens in its context";
  std::string data = usage_.tell(true, "");
  EventParts parts = step(EventType::usage);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

std::optional<std::int64_t> AcpAgent::usage_due_ms() const {
  if (!in_turn() || !usage_.has_untold()) return std::nullopt;
  return usage_told_ms_ + kUsagePause.count();
}

}  // namespace shepherd
