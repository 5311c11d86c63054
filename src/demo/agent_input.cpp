#include <csignal>
#include <cstdlib>
#include <iostream>

#include "demo/agent.h"

namespace scripted {
namespace {

std::string words_of(const json::value& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string out;
  if (!content.is_array()) return out;
  for (const json::value& block : content.as_array()) out.append(text(block.as_object(), "text"));
  return out;
}

}  // namespace

// Handles input until the time is over (0: only what has already arrived) or something ends the turn.
void Agent::pump(std::int64_t until_ns, bool listen) {
  for (;;) {
    Input::Arrival arrival = input_.wait(until_ns, listen);
    if (arrival.kind == Input::Arrival::Kind::time) return;
    handle(arrival);
    if (until_ns == Input::kForever || (in_turn_ && interrupted_)) return;
    if (!in_turn_ && !waiting_.empty()) return;
  }
}

void Agent::handle(const Input::Arrival& arrival) {
  switch (arrival.kind) {
    case Input::Arrival::Kind::line:
      return handle_line(arrival.line);
    case Input::Arrival::Kind::end:
      input_ended_ = true;
      // No answers can arrive any more.
      for (auto& [id, answer] : asked_) {
        if (!answer) answer = json::object{{"behavior", "deny"}, {"message", "stdin closed"}};
      }
      return;
    case Input::Arrival::Kind::signal:
      if (arrival.signal == SIGINT && !ignores("INT")) {
        if (!in_turn_) leave(0);
        leave_after_turn_ = true;
        interrupted_ = true;
      }
      if (arrival.signal == SIGTERM && !ignores("TERM")) leave(128 + SIGTERM);
      return;
    case Input::Arrival::Kind::readable:
    case Input::Arrival::Kind::time:
      return;
  }
}

void Agent::handle_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  boost::system::error_code error;
  json::value value = json::parse(line, error);
  if (error || !value.is_object()) {
    std::cerr << "Error parsing streaming input line (type=unknown, " << line.size() << " chars): SyntaxError\n";
    leave(1);
  }
  const json::object& object = value.as_object();
  std::string type = text(object, "type");
  if (type == "user") return user_message(object);
  if (type == "control_request") return control_request(object);
  if (type != "control_response") return;
  const json::value* response = object.if_contains("response");
  if (response == nullptr || !response->is_object()) return;
  auto asked = asked_.find(text(response->as_object(), "request_id"));
  if (asked == asked_.end() || asked->second) return;  // withdrawn, or already answered
  if (options_.replay) voice_.line(object);            // answers are replayed like messages
  const json::value* answer = response->as_object().if_contains("response");
  bool said = text(response->as_object(), "subtype") == "success" && answer != nullptr && answer->is_object();
  asked->second = said ? answer->as_object() : json::object{{"behavior", "deny"}, {"message", "error"}};
}

void Agent::user_message(const json::object& line) {
  const json::value* body = line.if_contains("message");
  if (body == nullptr || !body->is_object()) return;
  Message message;
  if (const json::value* content = body->as_object().if_contains("content")) message.content = *content;
  message.text = words_of(message.content);
  message.uuid = text(line, "uuid");
  message.priority = text(line, "priority");
  if (session_states_ && !in_turn_ && waiting_.empty()) voice_.session_state("running");
  voice_.lifecycle(message.uuid, "queued");
  waiting_.push_back(std::move(message));
}

void Agent::control_request(const json::object& line) {
  std::string id = text(line, "request_id");
  const json::value* request = line.if_contains("request");
  if (request == nullptr || !request->is_object()) {
    std::cerr << "Error: Missing request on control_request\n";
    leave(1);
  }
  const json::object& asked = request->as_object();
  std::string subtype = text(asked, "subtype");
  if (subtype == "interrupt") return interrupt(id, truth(asked, "cancel_queued"));
  if (subtype == "initialize") return voice_.respond(id, json::object{{"commands", json::array{}}});
  if (subtype == "set_permission_mode") {
    std::string mode = text(asked, "mode");
    if (mode == "bypassPermissions") return voice_.respond_error(id, "not launched so", "bypass_not_launched");
    options_.permission_mode = mode;
    voice_.respond(id, json::object{{"mode", mode}});
    return voice_.system("status", {{"status", nullptr}, {"permissionMode", mode}});
  }
  if (subtype == "set_model") {
    options_.model = text(asked, "model");
    return voice_.respond(id, json::object{{"model", options_.model}});
  }
  if (subtype == "end_session") {
    voice_.respond(id, nullptr);
    leave(0);
  }
  voice_.respond_error(id, "Unsupported control request subtype: " + subtype, "unsupported_request");
}

// Withdraws open questions, answers the request, and ends the turn. An agent that ignores interrupts does not even
// answer.
void Agent::interrupt(std::string_view request_id, bool cancel_queued) {
  if (ignores("interrupt")) return;
  for (const auto& [id, answer] : asked_) {
    if (!answer) voice_.withdraw(id);
  }
  asked_.clear();
  json::object response{{"still_queued", json::array{}}};
  json::array ids;
  for (const Message& message : waiting_) {
    ids.emplace_back(message.uuid);
    if (cancel_queued) voice_.lifecycle(message.uuid, "cancelled");
  }
  if (cancel_queued) {
    waiting_.clear();
    response["cancelled"] = std::move(ids);
  } else {
    response["still_queued"] = std::move(ids);
  }
  voice_.respond(request_id, std::move(response));
  if (in_turn_) interrupted_ = true;
}

void Agent::leave(int code) {
  if (running_ > 0) kill(-running_, SIGKILL);
  std::_Exit(code);
}

}  // namespace scripted
