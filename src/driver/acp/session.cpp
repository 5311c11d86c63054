#include <charconv>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/rpc_lines.h"
#include "driver/acp/servers.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

std::optional<std::uint64_t> id_number(std::string_view slice) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(slice.data(), slice.data() + slice.size(), number);
  if (error != std::errc() || end != slice.data() + slice.size()) return std::nullopt;
  return number;
}

}  // namespace

std::uint64_t AcpAgent::send(std::string_view method, std::string_view params, Sent sent, Actions& out) {
  std::uint64_t id = next_request_++;
  out.write(rpc_request(id, method, params));
  sent_.emplace(id, std::move(sent));
  return id;
}

// The agent answers a request of ours.
void AcpAgent::response(Actions& out) {
  auto id = id_number(record_.find("id").slice);
  auto found = id ? sent_.find(*id) : sent_.end();
  if (found == sent_.end()) return unknown("an answer to nothing", out);
  Sent sent = std::move(found->second);
  sent_.erase(found);
  const JsonNode& result = record_.find("result");
  if (record_.find("error").kind == JsonKind::object) return failed_request(sent, out);
  switch (sent.what) {
    case Sent::What::initialize:
      return initialized(result, out);
    case Sent::What::open:
    case Sent::What::load:
      return opened(result, out);
    case Sent::What::setting:
      if (!asked_model_.id.empty() && sent.setting == asked_model_.about) agent_model_ = asked_model_.id;
      take_settings(result);
      if (!sent.command_id.empty()) {
        out.settle({sent.command_id, CommandState::acknowledged, ""});
        return;
      }
      return go_on(out);
    case Sent::What::prompt:
      return prompt_ended(sent, result, out);
    case Sent::What::steer:
      // The turn ended before it came: the words are a prompt now.
      if (record_.string(result, "outcome") == "promptRequired") return say(sent.words, sent.words.content, false, out);
      out.settle({sent.command_id, CommandState::acknowledged, ""});
      return;
    case Sent::What::close:
      return;
  }
}

std::string AcpAgent::error_words() const {
  const JsonNode& error = record_.find("error");
  std::string words(event_text(record_.string(error, "message")));
  // Some agents keep the reason in what goes with the message.
  const JsonNode& data = record_.find(error, "data");
  std::string_view more = data.kind == JsonKind::string ? data.text : record_.string(data, "message");
  if (more.empty()) more = record_.string(data, "details");
  if (!more.empty() && words.find(more) == std::string::npos) {
    words.append(words.empty() ? "" : ": ").append(event_text(more));
  }
  return words.empty() ? "the agent gave no reason" : words;
}

bool AcpAgent::wants_login() const {
  return record_.find(record_.find("error"), "code").slice == std::to_string(kRpcLoginRequired);
}

void AcpAgent::failed_request(const Sent& sent, Actions& out) {
  std::string words = error_words();
  // The protocol's own word. What an agent says of keys otherwise may be about a wrong one.
  bool login = wants_login();
  switch (sent.what) {
    case Sent::What::initialize:
      if (login) return login_required(words, out);
      return fatal("initialize_failed", "The agent does not speak the Agent Client Protocol: " + words, out);
    case Sent::What::load:
      replaying_ = false;
      if (login) return login_required(words, out);
      return fatal("unknown_session", "The agent cannot go on with the session: " + words, out);
    case Sent::What::open:
      if (login) return login_required(words, out);
      return fatal("session_failed", "The agent opened no session: " + words, out);
    case Sent::What::setting:
      if (!sent.command_id.empty()) return out.settle({sent.command_id, CommandState::refused, words});
      note(out, "The agent refused to set " + sent.setting + ": " + words);
      return go_on(out);
    case Sent::What::prompt:
      return prompt_failed(sent, out);
    case Sent::What::steer:
      // Without the extension's help the words are for the next turn.
      if (record_.find(record_.find("error"), "code").slice == "-32601") can_steer_ = false;
      return hold(sent.words, sent.words.content, "the agent did not take it up in this turn; held for the next one",
                  out);
    case Sent::What::close:
      return;  // closing its input ends it, too
  }
}

// One error says why nothing comes of it; then the agent is let go.
void AcpAgent::fatal(std::string_view code, const std::string& message, Actions& out, std::string_view more) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", code);
    object.flag("fatal", true);
    object.flag("recoverable", false);
    object.text("message", event_text(message));
    object.members(more);
  });
  EventParts parts = step(EventType::error);
  std::string summary = one_line(message, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
  told_failure_ = true;
  ending_ = Ending{false, false, message};
  hints_.turn = Hints::Turn::idle;
  settings_.clear();
  for (const Held& held : std::exchange(held_, {})) {
    out.settle({held.command.id, CommandState::refused, one_line(message, kTextSummaryCharacters)});
  }
  out.close_input();
}

void AcpAgent::login_required(std::string_view said, Actions& out) {
  std::string message = "The agent wants a login: " + std::string(said);
  if (!message.ends_with('.')) message.push_back('.');
  message += " Sign in with the agent's own program, then start again.";
  std::string methods;
  for (const Method& login : logins_) {
    methods.append(methods.empty() ? " Ways to sign in: " : "; ").append(login.name);
    if (!login.description.empty()) methods.append(" (").append(login.description).append(")");
  }
  std::string list;
  for (const Method& login : logins_) {
    list.push_back(list.empty() ? '[' : ',');
    write_object(list, [&](JsonObject& object) {
      object.text("name", login.name);
      object.text_unless_empty("description", login.description);
    });
  }
  fatal("login_required", message + methods, out, list.empty() ? "" : "\"authMethods\":" + list + "]");
}

void AcpAgent::initialized(const JsonNode& result, Actions& out) {
  const JsonNode& info = record_.find(result, "agentInfo");
  std::string_view title = record_.string(info, "title");
  agent_name_ = (title.empty() ? record_.string(info, "name") : title).substr(0, kMaxAgentIdBytes);
  agent_version_ = record_.string(info, "version").substr(0, kMaxAgentIdBytes);
  const JsonNode& can = record_.find(result, "agentCapabilities");
  const JsonNode& session = record_.find(can, "sessionCapabilities");
  const JsonNode& servers = record_.find(can, "mcpCapabilities");
  can_load_ = is_true(record_.find(can, "loadSession"));
  can_resume_ = record_.find(session, "resume").kind == JsonKind::object;
  can_close_ = record_.find(session, "close").kind == JsonKind::object;
  has_http_ = is_true(record_.find(servers, "http"));
  has_sse_ = is_true(record_.find(servers, "sse"));
  can_steer_ = is_true(record_.find(record_.find(record_.find(result, "_meta"), "steering"), "supported"));
  const JsonNode& logins = record_.find(result, "authMethods");
  for (const JsonNode* each = record_.first(logins); each != nullptr; each = record_.after(*each)) {
    if (logins_.size() == 20) break;
    std::string_view name = record_.string(*each, "name");
    if (name.empty()) name = record_.string(*each, "id");
    logins_.push_back(
        {one_line(name, kMaxAgentIdBytes), one_line(record_.string(*each, "description"), kMaxAgentIdBytes)});
  }
  if (auto version = count_of(record_.find(result, "protocolVersion")); version && *version != 1) {
    return fatal(
        "wrong_protocol",
        "The agent speaks version " + std::to_string(*version) + " of the Agent Client Protocol, not version 1", out);
  }
  // What may be asked of it is known only now.
  initialized_ = true;
  bool resumes = can_load_ || can_resume_;
  if (can_steer_ || !resumes) {
    std::string told =
        can_steer_ ? "The agent can be steered in its turns" : "The agent cannot go on with old sessions";
    if (can_steer_ && !resumes) told += " and cannot go on with old sessions";
    status(out, told, "", "\"capabilities\":" + encode_capabilities(capabilities()));
  }
  open_session(out);
}

void AcpAgent::open_session(Actions& out) {
  AcpServers servers = acp_servers(launched_.mcp_servers_json, has_http_, has_sse_);
  std::string refused;
  for (const auto& name : servers.refused) refused.append(refused.empty() ? "" : ", ").append(name);
  if (!refused.empty()) note(out, "The agent cannot reach these MCP servers, so it does without: " + refused);
  const std::string& old = launched_.resume_session;
  if (!old.empty() && !can_load_ && !can_resume_) {
    return fatal("cannot_resume", "The agent cannot go on with an old session", out);
  }
  std::string params = object_text([&](JsonObject& object) {
    object.text_unless_empty("sessionId", old);
    object.text("cwd", launched_.directory.empty() ? "/" : launched_.directory);
    object.json("mcpServers", servers.json);
  });
  hints_.session_id = old;
  if (old.empty()) {
    send("session/new", params, {Sent::What::open, "", "", {}}, out);
  } else if (can_resume_) {
    send("session/resume", params, {Sent::What::load, "", "", {}}, out);
  } else {
    replaying_ = true;
    send("session/load", params, {Sent::What::load, "", "", {}}, out);
  }
}

void AcpAgent::opened(const JsonNode& result, Actions& out) {
  replaying_ = false;
  if (std::string_view id = record_.string(result, "sessionId"); !id.empty()) {
    hints_.session_id = id.substr(0, kMaxAgentIdBytes);
  }
  if (hints_.session_id.empty()) return fatal("session_failed", "The agent opened a session without an id", out);
  open_ = true;
  take_settings(result);
  tell_session(out);
  plan_settings(out);
  go_on(out);
}

void AcpAgent::tell_session(Actions& out) {
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("model", agent_model_);
    object.text_unless_empty("cwd", launched_.directory);
    object.text_unless_empty("permissionMode", agent_mode_);
    object.text_unless_empty("agent", agent_name_);
    object.text_unless_empty("agentVersion", agent_version_);
  });
  std::string who = agent_name_.empty() ? "the agent" : agent_name_;
  if (!agent_version_.empty()) who.append(" ").append(agent_version_);
  std::string summary = (launched_.resume_session.empty() ? "Session started with " : "Session resumed with ") + who;
  if (!agent_model_.empty()) summary.append(", model ").append(agent_model_);
  summary = one_line(summary, kTextSummaryCharacters);
  EventParts parts = step(EventType::session_start);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// An agent may keep much for a session that is open. It need not answer: the end of its input follows.
void AcpAgent::leave(Actions& out) {
  if (!open_ || !std::exchange(can_close_, false)) return;
  std::string params = object_text([&](JsonObject& object) { object.text("sessionId", hints_.session_id); });
  send("session/close", params, {Sent::What::close, "", "", {}}, out);
}

// The next setting, or the prompt when all were answered.
void AcpAgent::go_on(Actions& out) {
  if (!settings_.empty()) {
    Setting next = std::move(settings_.front());
    settings_.pop_front();
    send(next.method, next.params, {Sent::What::setting, next.command_id, next.about, {}}, out);
    return;
  }
  if (!open_ || std::exchange(prompted_, true)) return;
  // One that only resumes has nothing to say yet when it is told nothing.
  std::string text = launched_.prompt.empty() ? "Continue." : launched_.prompt;
  prompt(text, "", out);
}

}  // namespace shepherd
