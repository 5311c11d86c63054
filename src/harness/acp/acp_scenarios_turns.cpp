// Turns: an answer, a command that is allowed, one that is rejected, one that is cancelled.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "harness/acp/acp_trial.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

constexpr const char* kNoPermission = "the agent asked for no permission";

bool exists(const std::string& path) {
  std::error_code problem;
  return std::filesystem::exists(path, problem);
}

// The id of the first option whose kind begins with that word, the one for this time alone first; empty if none.
std::string option_of(const json::object& params, const std::string& word) {
  const json::array* options = member_array(params, "options");
  if (options == nullptr) return {};
  for (const std::string& kind : {word + "_once", word + "_always"}) {
    for (const json::value& option : *options) {
      const json::object* object = option.if_object();
      if (object != nullptr && member_string(*object, "kind") == kind) {
        return std::string(member_string(*object, "optionId"));
      }
    }
  }
  return {};
}

struct Chosen {
  std::set<std::string> calls = {};  // toolCallIds that were asked about
  bool had_option = true;            // of the wanted kind
};

AcpPeer::OnPermission choose(const std::string& word, Chosen& chosen) {
  return [word, &chosen](const json::object& params) -> std::optional<json::object> {
    const json::object* call = member_object(params, "toolCall");
    chosen.calls.emplace(call == nullptr ? std::string_view() : member_string(*call, "toolCallId"));
    std::string option = option_of(params, word);
    if (option.empty()) {
      chosen.had_option = false;
      return json::object{{"outcome", "cancelled"}};
    }
    return json::object{{"outcome", "selected"}, {"optionId", option}};
  };
}

// The newest status of each of these calls.
bool has_completed(const AcpTranscript& transcript, const std::set<std::string>& calls) {
  for (const AcpLine& line : transcript) {
    const json::object* message = line.object();
    const json::object* params = line.from_agent && message != nullptr ? member_object(*message, "params") : nullptr;
    const json::object* update = params == nullptr ? nullptr : member_object(*params, "update");
    if (update == nullptr || !calls.contains(std::string(member_string(*update, "toolCallId")))) continue;
    if (member_string(*update, "status") == "completed") return true;
  }
  return false;
}

bool is_update(const json::object& message, std::string_view kind) {
  const json::object* params = member_object(message, "params");
  const json::object* update = params == nullptr ? nullptr : member_object(*params, "update");
  return update != nullptr && member_string(*update, "sessionUpdate").starts_with(kind);
}

}  // namespace

std::string acp_command_prompt(const std::string& command) {
  return "Run exactly this shell command, once, and do nothing else: `" + command + "`";
}

json::object AcpTrial::prompt(const std::string& text) const {
  return {{"sessionId", session}, {"prompt", json::array{json::object{{"type", "text"}, {"text", text}}}}};
}

std::optional<json::object> AcpTrial::run_turn(const std::string& text) {
  auto answer = peer.answer(peer.request("session/prompt", prompt(text)), turn_wait());
  if (!answer) {
    silent = true;
    if (peer.running()) {
      report.fail("prompt", "prompt_not_answered",
                  fmt::format("the prompt {} has no answer after {} s", quote_of(text), turn_wait().count() / 1000));
    }
    return {};
  }
  if (const json::object* error = member_object(*answer, "error")) {
    report.fail("prompt", "prompt_refused",
                fmt::format("the prompt {} got {}", quote_of(text), json::serialize(*error)));
    return {};
  }
  peer.watch(kAcpQuiet);  // what comes after the end of a turn is judged too
  return answer;
}

void plain_prompt(AcpTrial& trial) {
  Chosen chosen;
  trial.peer.on_permission = choose("reject", chosen);
  if (!trial.run_turn("Answer with the word ready, and use no tool.")) return;
  trial.report.pass("prompt");
  for (const AcpLine& line : trial.peer.transcript()) {
    if (line.from_agent && line.object() != nullptr && is_update(*line.object(), "agent_message_chunk")) {
      return trial.report.pass("message");
    }
  }
  trial.report.not_shown("message", "the answer to a prompt had no agent_message_chunk");
}

void allowed_command(AcpTrial& trial) {
  Chosen chosen;
  trial.peer.on_permission = choose("allow", chosen);
  std::string made = trial.path("allowed");
  if (!trial.run_turn(acp_command_prompt("touch " + made))) return;
  if (chosen.calls.empty()) {
    return trial.report.skip("permission_allowed", kNoPermission);
  }
  if (!chosen.had_option) {
    return trial.report.skip("permission_allowed", "no option of its requests is an allow_once or allow_always");
  }
  if (has_completed(trial.peer.transcript(), chosen.calls) && !exists(made)) {
    trial.report.fail("permission_allowed", "allowed_tool_did_nothing",
                      "the command was allowed and its call reported completed, but the command has not run");
  } else if (!exists(made)) {
    trial.report.skip("permission_allowed", "the allowed command did not run, and the agent does not say it did");
  } else {
    trial.report.pass("permission_allowed");
  }
}

void rejected_command(AcpTrial& trial) {
  Chosen chosen;
  trial.peer.on_permission = choose("reject", chosen);
  std::string made = trial.path("rejected");
  if (!trial.run_turn(acp_command_prompt("touch " + made))) return;
  if (chosen.calls.empty()) return trial.report.skip("permission_rejected", kNoPermission);
  if (exists(made)) {
    trial.report.fail("permission_rejected", "rejected_tool_ran", "the command was rejected, and it ran all the same");
  }
  if (has_completed(trial.peer.transcript(), chosen.calls)) {
    trial.report.fail("permission_rejected", "rejected_tool_completed",
                      "the command was rejected, and its call reported completed; report failed");
  }
  trial.report.pass("permission_rejected");
}

void cancelled_command(AcpTrial& trial) {
  Chosen chosen;
  trial.peer.on_permission = choose("allow", chosen);
  std::int64_t id = trial.peer.request("session/prompt", trial.prompt(acp_command_prompt("sleep 100")));
  bool is_over = false;
  auto over_or = [&](bool is_enough) {
    return [&is_over, id, is_enough](const json::object& message) {
      const json::value* answered = message.if_contains("id");
      is_over = !message.contains("method") && answered != nullptr && *answered == id;
      return is_over || (is_enough && is_update(message, "tool_call"));
    };
  };
  auto works = trial.peer.wait_for(over_or(true), trial.turn_wait());
  // A command that was allowed needs a moment to begin.
  if (works == AcpPeer::Wait::found && !is_over) trial.peer.wait_for(over_or(false), kAcpQuiet);
  if (is_over) return trial.report.skip("cancel", "the turn was over before it could be cancelled");
  trial.peer.on_permission = [](const json::object&) { return std::nullopt; };
  trial.peer.notify("session/cancel", {{"sessionId", trial.session}});
  trial.peer.withdraw_permissions();
  auto answer = trial.peer.answer(id, trial.options.answer);
  trial.peer.on_permission = choose("reject", chosen);
  if (!answer) {
    trial.silent = true;
    if (!trial.peer.running()) return;
    return trial.report.fail("cancel", "cancel_without_effect",
                             fmt::format("a cancelled prompt has no answer after {} s",
                                         std::chrono::duration<double>(trial.options.answer).count()));
  }
  const json::object* result = member_object(*answer, "result");
  if (result == nullptr) {
    return trial.report.fail("cancel", "cancelled_prompt_fails",
                             fmt::format("a cancelled prompt got {}, expected the stopReason cancelled",
                                         quote_of(json::serialize(*answer))));
  }
  if (std::string_view reason = member_string(*result, "stopReason"); reason != "cancelled") {
    return trial.report.fail("cancel", "cancelled_prompt_reason",
                             fmt::format("a cancelled prompt has the stopReason {}", quote_of(reason)));
  }
  trial.report.pass("cancel");
  trial.peer.watch(kAcpQuiet);
  if (trial.run_turn("Answer with the word ready, and use no tool.")) trial.report.pass("after_cancel");
}

}  // namespace shepherd::harness
