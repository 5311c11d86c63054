// Rules about lines and JSON-RPC messages.
#include "harness/acp/acp_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace shepherd::harness {
namespace json = boost::json;
namespace {

bool is_id(const json::value& id) {
  return id.is_string() || id.is_int64() || id.is_uint64();
}

// The ids of one side's requests, and how often each was answered.
using Asked = std::map<std::string, int>;

struct MessageRule {
  Report& report;
  Asked of_client = {}, of_agent = {};

  void fail(std::string_view defect, const AcpLine& line, std::string_view why) {
    report.fail("json_rpc", defect, fmt::format("{}: {}", quote_of(line.text), why));
  }

  void look(const AcpLine& line) {
    if (!line.is_json) return;
    const json::object* message = line.object();
    if (message == nullptr) return fail("not_an_object", line, "a message is a JSON object, one on each line");
    if (member_string(*message, "jsonrpc") != "2.0") {
      fail("jsonrpc_missing", line, "the message has no \"jsonrpc\":\"2.0\"");
    }
    const json::value* id = message->if_contains("id");
    if (message->contains("method")) {
      if (!message->at("method").is_string()) fail("method_malformed", line, "the method is not a string");
      if (id != nullptr) request(line, *id);
    } else if (id == nullptr) {
      fail("no_method_no_id", line, "neither a request, nor a notification, nor an answer");
    } else {
      answer(line, *message, *id);
    }
  }

  void request(const AcpLine& line, const json::value& id) {
    if (!is_id(id)) return fail("request_id_malformed", line, "the id is neither a string nor an integer");
    if (!of_agent.try_emplace(json::serialize(id), 0).second) {
      fail("request_id_repeats", line, "the agent has used this id for an earlier request");
    }
  }

  void answer(const AcpLine& line, const json::object& message, const json::value& id) {
    const json::value* error = message.if_contains("error");
    if (message.contains("result") == (error != nullptr)) {
      return fail("answer_malformed", line, "an answer has either a result or an error");
    }
    if (error != nullptr) error_form(line, *error);
    if (id.is_null()) return;  // an error about something that had no id: the scenario of notifications judges it
    auto asked = of_client.find(json::serialize(id));
    if (asked == of_client.end())
      return fail("answer_to_unknown_id", line, "the client has sent no request of this id");
    if (++asked->second > 1) fail("answered_twice", line, "the request of this id was answered before");
  }

  void error_form(const AcpLine& line, const json::value& error) {
    const json::object* object = error.if_object();
    const json::value* code = object == nullptr ? nullptr : object->if_contains("code");
    const json::value* text = object == nullptr ? nullptr : object->if_contains("message");
    if (code == nullptr || !code->is_int64() || text == nullptr || !text->is_string()) {
      fail("error_malformed", line, "an error has an integer as code and a string as message");
    }
  }
};

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view each) { return text.starts_with(each); });
}

}  // namespace

void check_acp_rules(const AcpTranscript& transcript, Report& report) {
  check_acp_stdout(transcript, report);
  check_acp_messages(transcript, report);
  check_acp_updates(transcript, report);
  check_acp_turns(transcript, report);
  check_acp_stop_reasons(transcript, report);
  check_acp_tools(transcript, report);
  check_acp_permissions(transcript, report);
  check_acp_methods(transcript, report);
}

void check_acp_stdout(const AcpTranscript& transcript, Report& report) {
  auto is_wrong = [](const AcpLine& line) { return line.from_agent && !line.is_json; };
  auto wrong = std::ranges::count_if(transcript, is_wrong);
  if (wrong > 0) {
    const AcpLine& first = *std::ranges::find_if(transcript, is_wrong);
    return report.fail("stdout", "not_json",
                       fmt::format("{} of its lines are not JSON, first {}; print such text on standard error", wrong,
                                   quote_of(first.text)));
  }
  if (std::ranges::any_of(transcript, &AcpLine::from_agent)) report.pass("stdout");
}

void check_acp_messages(const AcpTranscript& transcript, Report& report) {
  MessageRule rule{report};
  for (const AcpLine& line : transcript) {
    if (line.from_agent) {
      rule.look(line);
    } else if (const json::object* message = line.object();
               message != nullptr && message->contains("method") && message->contains("id")) {
      rule.of_client.try_emplace(json::serialize(message->at("id")), 0);
    }
  }
  if (std::ranges::any_of(transcript, [](const AcpLine& line) { return line.from_agent && line.is_json; })) {
    report.pass("json_rpc");
  }
}

void check_acp_methods(const AcpTranscript& transcript, Report& report) {
  for (const AcpLine& line : transcript) {
    const json::object* message = line.object();
    if (!line.from_agent || message == nullptr || !message->contains("method")) continue;
    std::string_view method = member_string(*message, "method");
    if (begins_with_any(method, {"fs/", "terminal/"})) {
      report.fail("client_methods", "uses_what_is_not_offered",
                  fmt::format("it calls {}, and the client's capabilities have no such thing", quote_of(method)));
    } else if (!begins_with_any(method, {"_", "$/", "session/", "elicitation/", "mcp/"})) {
      report.fail("client_methods", "method_not_in_protocol",
                  fmt::format("it calls {}; names of methods outside the protocol begin with _", quote_of(method)));
    }
  }
  if (std::ranges::any_of(transcript, [](const AcpLine& line) { return line.from_agent && line.is_json; })) {
    report.pass("client_methods");
  }
}

}  // namespace shepherd::harness
