#include <algorithm>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/limits.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {

void AcpAgent::tool_call(const JsonNode& node, bool first_word, Actions& out) {
  if (first_word) close_block(out);
  AcpCall* call = calls_.merge(record_, node, first_word, now_ms_);
  if (call == nullptr) return;
  std::string id = call->agent_id;
  bool moves = call->status == "in_progress" || call->ended();
  if (moves) {
    tell_call(*call, out);
    settle_answer(id, out);
  }
  if (call->ended()) return end_call(id, "", out);
  if (calls_.full()) end_call(std::string(calls_.open().front().agent_id), "forgotten", out);
}

// Said once, when its input is known: later words on it go into its result.
void AcpAgent::tell_call(AcpCall& call, Actions& out) {
  if (std::exchange(call.told, true)) return;
  close_block(out);
  usage_.tool_use();
  call.told_input = acp_call_input(call);
  EventParts parts = step(EventType::tool_call);
  std::string summary = acp_call_summary(call, launched_.directory);
  std::string tool = call.tool();
  std::string data = acp_call_data(call);
  parts.summary = summary;
  parts.tool = tool;
  parts.input = call.told_input;
  parts.data = data;
  parts.call_id = call.id;
  emit(out, parts);
}

// Input that came in pieces and comes no more is whole.
void AcpAgent::tell_due_calls(Actions& out) {
  for (AcpCall& call : calls_.open()) {
    if (call.told || !call.has_input() || now_ms_ - call.changed_ms < kAcpInputWait.count()) continue;
    tell_call(call, out);
  }
}

// `why`: what ended it when it did not end by itself.
void AcpAgent::end_call(std::string_view agent_id, std::string_view why, Actions& out) {
  settle_answer(agent_id, out);
  // An agent that goes on without an answer from here has decided itself.
  for (const auto& [id, ask] : asks_) {
    if (ask.ask.call_id != agent_id || ask.elicited) continue;
    answer_ask(std::string(id), "expired", "decided by the agent", R"({"outcome":{"outcome":"cancelled"}})", out);
    break;
  }
  if (AcpCall* open = calls_.find(agent_id)) tell_call(*open, out);
  AcpCall call = calls_.take(agent_id);
  bool success = why.empty() ? call.status != "failed" : why == "unsaid";
  Outcome outcome = success ? Outcome::success : call.denied ? Outcome::denied : Outcome::failed;
  // What it shows of a call that was not made is what it would have done.
  bool made = why.empty() || why == "unsaid";
  std::string whole = made ? acp_result_text(call, launched_.directory) : std::string();
  if (whole.empty()) whole = terminal_text(call);
  std::string_view text = without_fence(whole);
  std::string output = output_json(outcome, text);
  std::string summary = acp_summary(text);
  if (summary.empty()) {
    summary = success ? "Done, no output" : call.denied ? "Denied" : "Failed, no output";
    if (why == "unsaid") summary = "Ended; the agent did not say how";
    if (why == "cancelled") summary = "Cancelled";
  }
  std::string data = acp_call_data(call);
  std::string tool = call.tool();
  EventParts parts = step(EventType::tool_result);
  parts.summary = summary;
  parts.tool = tool;
  parts.output = output;
  parts.data = data;
  parts.call_id = call.id;
  parts.duration_ms = std::max<std::int64_t>(0, now_ms_ - call.started_ms);
  Detail detail;
  if (call.has_input() && call.input != call.told_input) detail.json("input", call.input);
  if (std::string diffs = acp_diffs(call); !diffs.empty()) detail.json("diffs", diffs);
  emit(out, parts, std::move(detail));
}

// The turn is over, and so are its calls: some agents never say so.
void AcpAgent::end_calls(std::string_view why, Actions& out) {
  while (!calls_.open().empty()) {
    const AcpCall& call = calls_.open().front();
    std::string_view how = !why.empty() ? why : call.denied ? "denied" : "unsaid";
    end_call(std::string(call.agent_id), how, out);
  }
}

// The call that an operator decided about has gone on.
void AcpAgent::settle_answer(std::string_view call_id, Actions& out) {
  auto found = decisions_.find(call_id);
  if (found == decisions_.end()) return;
  out.settle({std::move(found->second), CommandState::acknowledged, ""});
  decisions_.erase(found);
}

}  // namespace shepherd
