// What a client does before the first prompt.
#include <fmt/format.h>

#include "harness/acp/acp_trial.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

constexpr int kLoginRequired = -32000;

const json::object* error_of(const json::object& answer) {
  return member_object(answer, "error");
}

std::int64_t code_of(const json::object& error) {
  const json::value* code = error.if_contains("code");
  return code != nullptr && code->is_int64() ? code->get_int64() : 0;
}

json::object session_in(const std::string& directory) {
  return {{"cwd", directory}, {"mcpServers", json::array()}};
}

std::unexpected<Error> not_answered(AcpTrial& trial, std::string_view method) {
  std::string tail = trial.peer.tail();
  std::string how = trial.peer.running() ? "has not answered in time" : "ended with " + trial.peer.exit_text();
  return fail(ErrorCode::unavailable, "agent_unreachable",
              fmt::format("the agent {} when asked to {}; is this the command that speaks the protocol on its standard "
                          "streams?{}",
                          how, method, tail.empty() ? "" : " It printed:\n" + tail));
}

}  // namespace

Result<void> initialize(AcpTrial& trial) {
  json::object capabilities{{"fs", {{"readTextFile", false}, {"writeTextFile", false}}}, {"terminal", false}};
  auto answer =
      trial.peer.answer(trial.peer.request("initialize", {{"protocolVersion", 1},
                                                          {"clientCapabilities", capabilities},
                                                          {"clientInfo", {{"name", "shepherd"}, {"version", "1"}}}}),
                        kAcpStartWait);
  if (!answer) return not_answered(trial, "initialize");
  const json::object* result = member_object(*answer, "result");
  if (result == nullptr) {
    trial.report.fail("initialize", "initialize_refused",
                      fmt::format("it answered {} to initialize with version 1", json::serialize(*answer)));
    return {};
  }
  const json::value* version = result->if_contains("protocolVersion");
  if (version == nullptr || !version->is_int64()) {
    trial.report.fail("initialize", "protocol_version_missing", "its answer has no integer protocolVersion");
  } else if (version->get_int64() != 1) {
    trial.report.fail("initialize", "protocol_version_not_echoed",
                      fmt::format("it answered version {} to a client of version 1", version->get_int64()));
  }
  for (const char* name : {"agentCapabilities"}) {
    if (const json::value* value = result->if_contains(name); value != nullptr && !value->is_object()) {
      trial.report.fail("initialize", "capabilities_malformed", fmt::format("its {} is not an object", name));
    }
  }
  if (const json::value* ways = result->if_contains("authMethods"); ways != nullptr && !ways->is_array()) {
    trial.report.fail("initialize", "auth_methods_malformed", "its authMethods is not an array");
  }
  trial.report.pass("initialize");
  return {};
}

void unknown_things(AcpTrial& trial) {
  auto answer = trial.peer.answer(trial.peer.request("_shepherd/no_such_method", {}), trial.options.answer);
  const json::object* error = answer ? error_of(*answer) : nullptr;
  if (!answer && !trial.peer.running()) return;
  if (!answer) {
    trial.report.fail("unknown_method", "unknown_method_not_answered", "a request of an unknown method has no answer");
  } else if (error == nullptr) {
    trial.report.fail("unknown_method", "unknown_method_accepted", "a request of an unknown method got a result");
  } else if (code_of(*error) != kMethodNotFound) {
    trial.report.fail(
        "unknown_method", "unknown_method_code",
        fmt::format("a request of an unknown method got the error {}, expected {}", code_of(*error), kMethodNotFound));
  } else {
    trial.report.pass("unknown_method");
  }

  trial.peer.notify("_shepherd/no_such_notification", {});
  bool answered = false;
  trial.peer.wait_for(
      [&](const json::object& message) {
        const json::value* id = message.if_contains("id");
        return answered = !message.contains("method") && message.contains("error") && (id == nullptr || id->is_null());
      },
      kAcpQuiet);
  if (answered) {
    trial.report.fail("unknown_notification", "notification_answered",
                      "it answered a notification, which is a message that has no id");
  } else if (!trial.peer.running()) {
    trial.report.fail("unknown_notification", "ends_on_unknown_notification",
                      "it ended after a notification that it does not know");
  } else {
    trial.report.pass("unknown_notification");
  }
}

void unknown_session(AcpTrial& trial) {
  json::object params{{"sessionId", "no-such-session"},
                      {"prompt", json::array{json::object{{"type", "text"}, {"text", "Hello"}}}}};
  auto answer = trial.peer.answer(trial.peer.request("session/prompt", params), trial.options.answer);
  if (!answer) {
    if (!trial.peer.running()) return;
    trial.report.fail("unknown_session", "unknown_session_not_answered",
                      "a prompt for an unknown session has no answer");
  } else if (error_of(*answer) == nullptr) {
    trial.report.fail("unknown_session", "unknown_session_accepted", "a prompt for an unknown session got a result");
  } else {
    trial.report.pass("unknown_session");
  }
}

void relative_directory(AcpTrial& trial) {
  auto answer = trial.peer.answer(trial.peer.request("session/new", session_in("relative/path")), trial.options.answer);
  const json::object* result = answer ? member_object(*answer, "result") : nullptr;
  if (!answer) {
    if (!trial.peer.running()) return;
    trial.report.fail("relative_cwd", "relative_cwd_not_answered", "session/new with a relative cwd has no answer");
  } else if (result != nullptr && member_string(*result, "sessionId").empty()) {
    trial.report.fail("relative_cwd", "relative_cwd_without_session",
                      "session/new with a relative cwd is neither refused nor answered with a sessionId");
  } else {
    trial.report.pass("relative_cwd");
  }
}

Result<void> new_session(AcpTrial& trial) {
  auto answer = trial.peer.answer(trial.peer.request("session/new", session_in(trial.directory)), kAcpStartWait);
  if (!answer) {
    if (!trial.peer.running()) return {};
    trial.report.fail("session", "session_not_answered", "session/new has no answer");
    return {};
  }
  if (const json::object* error = error_of(*answer); error != nullptr) {
    if (code_of(*error) == kLoginRequired) {
      return fail(ErrorCode::unauthenticated, "login_needed",
                  fmt::format("the agent asks for a login before its first session ({}); log in with its own program, "
                              "or give it a key in its environment",
                              readable(member_string(*error, "message"))));
    }
    trial.report.fail("session", "session_refused", fmt::format("session/new got {}", json::serialize(*error)));
    return {};
  }
  const json::object* result = member_object(*answer, "result");
  if (result != nullptr) trial.session = member_string(*result, "sessionId");
  if (trial.session.empty()) {
    trial.report.fail("session", "session_without_id", "the answer to session/new has no sessionId");
  } else {
    trial.report.pass("session");
  }
  return {};
}

}  // namespace shepherd::harness
