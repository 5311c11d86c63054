// Rules about tool calls and about what an agent asks before them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "harness/acp/acp_rules.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

bool is_final(std::string_view status) {
  return status == "completed" || status == "failed";
}

struct ToolRule {
  Report& report;
  std::map<std::string, std::string, std::less<>> status = {};  // of each call; empty before the first one
  std::set<std::string, std::less<>> shown = {};                // calls with an update of their own, still open
  std::size_t updates = 0, without_end = 0;

  void fail(std::string_view defect, const AcpLine& line, std::string_view why) {
    report.fail("tool_calls", defect, fmt::format("{}: {}", quote_of(line.text), why));
  }

  // A permission request may come before the call's own update, and then introduces it.
  void asked(const json::object& call) {
    if (auto id = member_string(call, "toolCallId"); !id.empty()) status.try_emplace(std::string(id));
  }

  void update(const AcpLine& line, const json::object& update, bool is_new) {
    ++updates;
    std::string_view id = member_string(update, "toolCallId");
    if (id.empty()) return fail("call_without_id", line, "it has no toolCallId");
    auto found = status.find(id);
    if (found == status.end() || !is_final(found->second)) shown.emplace(id);
    if (is_new) {
      if (member_string(update, "title").empty()) fail("call_without_title", line, "a tool_call has a title");
      if (found != status.end() && is_final(found->second)) {
        fail("call_id_repeats", line, "an earlier call of this toolCallId had ended");
      }
    } else if (found == status.end()) {
      fail("update_without_call", line, "no tool_call or permission request has introduced this toolCallId");
    }
    std::string& now = status[std::string(id)];
    const json::value* said = update.if_contains("status");
    if (said == nullptr || said->is_null()) return;
    std::string_view next = said->is_string() ? std::string_view(said->get_string()) : std::string_view();
    constexpr std::array<std::string_view, 4> kStatus{"pending", "in_progress", "completed", "failed"};
    if (std::ranges::find(kStatus, next) == kStatus.end()) {
      return fail("tool_status_unknown", line, "a status is pending, in_progress, completed or failed");
    }
    if (is_final(now) && next != now) fail("status_after_end", line, "the call had ended with another status");
    now = next;
    if (auto open = shown.find(id); is_final(now) && open != shown.end()) shown.erase(open);
  }

  // The calls of a cancelled turn need no end of their own.
  void turn_ended(std::string_view reason) {
    if (reason.empty()) return;
    if (reason != "cancelled") without_end += shown.size();
    shown.clear();
  }

  void finish() {
    if (updates == 0) return;
    report.pass("tool_calls");
    if (without_end == 0) return report.pass("tool_end");
    report.not_shown("tool_end", fmt::format("{} of {} tool calls never got a final status, so a client shows them as "
                                             "running",
                                             without_end, status.size()));
  }
};

std::string what_is_wrong_with(const json::object& params) {
  const json::object* call = member_object(params, "toolCall");
  if (call == nullptr) return "it has no toolCall";
  if (member_string(*call, "toolCallId").empty()) return "its toolCall has no toolCallId";
  const json::array* options = member_array(params, "options");
  if (options == nullptr || options->empty()) return "it has no options to choose from";
  constexpr std::array<std::string_view, 4> kKinds{"allow_once", "allow_always", "reject_once", "reject_always"};
  std::set<std::string_view> ids;
  for (const json::value& option : *options) {
    const json::object* object = option.if_object();
    if (object == nullptr) return "an option is not an object";
    std::string_view id = member_string(*object, "optionId");
    if (id.empty()) return "an option has no optionId";
    if (!ids.insert(id).second) return fmt::format("two options have the optionId {}", quote_of(id));
    if (member_string(*object, "name").empty()) return "an option has no name";
    std::string_view kind = member_string(*object, "kind");
    if (std::ranges::find(kKinds, kind) == kKinds.end()) {
      return fmt::format("the kind {} of an option is none of {}", quote_of(kind), fmt::join(kKinds, ", "));
    }
  }
  return {};
}

}  // namespace

void check_acp_tools(const AcpTranscript& transcript, Report& report) {
  ToolRule rule{report};
  for (const AcpLine& line : transcript) {
    const json::object* message = line.object();
    if (!line.from_agent || message == nullptr) continue;
    if (const json::object* result = member_object(*message, "result")) {
      rule.turn_ended(member_string(*result, "stopReason"));
    }
    const json::object* params = member_object(*message, "params");
    if (params == nullptr) continue;
    std::string_view method = member_string(*message, "method");
    if (method == "session/request_permission") {
      if (const json::object* call = member_object(*params, "toolCall")) rule.asked(*call);
    } else if (method == "session/update") {
      const json::object* update = member_object(*params, "update");
      std::string_view kind = update == nullptr ? std::string_view() : member_string(*update, "sessionUpdate");
      if (kind == "tool_call" || kind == "tool_call_update") rule.update(line, *update, kind == "tool_call");
    }
  }
  rule.finish();
}

void check_acp_permissions(const AcpTranscript& transcript, Report& report) {
  for (const AcpLine& line : transcript) {
    const json::object* message = line.object();
    if (!line.from_agent || message == nullptr) continue;
    if (member_string(*message, "method") != "session/request_permission") continue;
    if (!message->contains("id")) {
      report.fail("permission", "permission_malformed",
                  quote_of(line.text) + ": it has no id, so it cannot be answered");
      continue;
    }
    const json::object* params = member_object(*message, "params");
    std::string wrong = params == nullptr ? "it has no parameters" : what_is_wrong_with(*params);
    if (wrong.empty()) {
      report.pass("permission");
    } else {
      report.fail("permission", "permission_malformed", fmt::format("{}: {}", quote_of(line.text), wrong));
    }
  }
}

}  // namespace shepherd::harness
