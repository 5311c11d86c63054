#include "driver/acp/replay.h"

#include <algorithm>
#include <utility>

#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

// Requests of one kind have the same meaning: a session is opened in three ways.
std::string kind_of(std::string_view method) {
  bool opens = method == "session/new" || method == "session/load" || method == "session/resume";
  return opens ? "open" : std::string(method);
}

bool is_setting(std::string_view kind) {
  return kind.starts_with("session/set_");
}

std::string prompt_text(std::string_view params) {
  auto blocks = array_elements(find_member(params, "prompt"));
  return blocks && !blocks->empty() ? text_member(blocks->front(), "text") : std::string();
}

std::string with_id(std::string_view line, std::string_view id) {
  return object_text([&](JsonObject& object) {
    JsonMembers members(line);
    while (members.next()) object.json(members.key(), members.key() == "id" ? id : members.value());
  });
}

HostAnswer recorded_host_answer(const HostCall& call, std::string_view line) {
  if (std::string_view error = find_member(line, "error"); !error.empty()) {
    return {call.id, fail(ErrorCode::unavailable, "not_supported", text_member(error, "message"))};
  }
  std::string_view result = find_member(line, "result");
  HostAnswer answer{call.id, HostDone{}};
  if (std::holds_alternative<ReadFile>(call.request)) answer.result = FileText{text_member(result, "content")};
  if (std::holds_alternative<StartTerminal>(call.request)) {
    answer.result = TerminalStarted{text_member(result, "terminalId")};
  }
  bool looks = std::holds_alternative<LookAtTerminal>(call.request);
  if (looks || std::holds_alternative<AwaitTerminal>(call.request)) {
    TerminalState state;
    state.output = text_member(result, "output");
    auto code = count_value(find_member(looks ? find_member(result, "exitStatus") : result, "exitCode"));
    state.running = !code;
    if (code) state.code = static_cast<int>(*code);
    answer.result = state;
  }
  return answer;
}

}  // namespace

bool AcpReplay::prepare(const RecordedLine& line, Launch& launch) const {
  if (line.side != RecordedLine::Side::client) return false;
  std::string method = text_member(line.text, "method");
  std::string_view params = find_member(line.text, "params");
  if (kind_of(method) == "open") {
    launch.directory = text_member(params, "cwd");
    launch.resume_session = text_member(params, "sessionId");
  }
  if (method != "session/prompt") return false;
  launch.prompt = prompt_text(params);
  if (launch.prompt.empty()) launch.prompt = "recorded";
  return true;
}

void AcpReplay::wrote(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    std::string_view id = find_member(line, "id");
    std::string method = text_member(line, "method");
    if (!id.empty() && !method.empty()) ours_.push_back({std::string(id), kind_of(method)});
  }
}

void AcpReplay::step(const std::function<void(Actions&)>& act, Actions& out, std::string_view request_id,
                     std::string_view params) {
  Actions done;
  act(done);
  wrote(done.written());
  if (!request_id.empty()) {
    for (const HostCall& call : done.of<HostCall>()) calls_.insert_or_assign(std::string(request_id), call);
    for (const DriverEvent& event : done.events()) {
      std::string_view data = find_member(event.json, "data");
      if (event.type != EventType::approval || text_member(data, "state") != "pending") continue;
      asks_.insert_or_assign(std::string(request_id), Ask{text_member(data, "approvalID"), std::string(params)});
    }
  }
  out.add(std::move(done));
}

std::optional<std::string> AcpReplay::ours(std::string_view kind) {
  auto found = std::ranges::find(ours_, kind, &Request::kind);
  if (found == ours_.end()) return std::nullopt;
  std::string id = std::move(found->id);
  ours_.erase(found);
  return id;
}

void AcpReplay::from_agent(std::string_view line, std::int64_t now_ms, Actions& out) {
  std::string_view id = find_member(line, "id");
  std::string method = text_member(line, "method");
  auto give = [&](std::string_view record) {
    step([&](Actions& done) { driver_.record(record, now_ms, done); }, out, id, find_member(line, "params"));
  };
  if (id.empty() || !method.empty()) {
    if (!heard_client_ && method == "session/update") answer_settings(now_ms, out);
    if (!heard_client_ && !id.empty()) prompt_unless_there(now_ms, out);
    return give(line);
  }
  std::string kind;
  if (auto asked = asked_.find(id); asked != asked_.end()) {
    kind = std::move(asked->second);
    asked_.erase(asked);
  } else {
    kind = kind_of_answer(line, now_ms, out);
  }
  std::optional<std::string> own = ours(kind);
  if (!own) return;
  if (*own == id) return give(line);
  give(with_id(line, *own));
}

std::string AcpReplay::kind_of_answer(std::string_view line, std::int64_t now_ms, Actions& out) {
  std::string_view result = find_member(line, "result");
  if (!find_member(result, "protocolVersion").empty()) return "initialize";
  if (!find_member(result, "stopReason").empty()) {
    prompt_unless_there(now_ms, out);
    return "session/prompt";
  }
  // A prompt's answer is known by its members, unless it is an error.
  bool error = !find_member(line, "error").empty();
  if (ours_.empty() || (ours_.front().kind == "session/prompt" && !error)) return {};
  return ours_.front().kind;
}

// What an agent asks, and what ends a turn, belongs to one.
void AcpReplay::prompt_unless_there(std::int64_t now_ms, Actions& out) {
  answer_settings(now_ms, out);
  if (std::ranges::find(ours_, "session/prompt", &Request::kind) != ours_.end()) return;
  Command words;
  words.kind = CommandKind::resume;
  command(std::move(words), now_ms, out);
}

void AcpReplay::to_agent(std::string_view line, std::int64_t now_ms, Actions& out) {
  heard_client_ = true;
  ++said_;
  std::string method = text_member(line, "method");
  if (method.empty()) return client_answer(line, now_ms, out);
  if (!find_member(line, "id").empty()) return client_request(method, line, now_ms, out);
  if (method != "session/cancel") return;
  Command interrupt;
  interrupt.kind = CommandKind::interrupt;
  command(std::move(interrupt), now_ms, out);
}

void AcpReplay::client_request(std::string_view method, std::string_view line, std::int64_t now_ms, Actions& out) {
  std::string& kind = asked_[std::string(find_member(line, "id"))];
  std::string_view params = find_member(line, "params");
  std::string session = text_member(params, "sessionId");
  const std::string own_session = driver_.hints().session_id;
  if (!session.empty() && !own_session.empty() && session != own_session) return;  // what only the recorder asked
  kind = kind_of(method);
  if (method == "session/prompt") client_prompt(params, now_ms, out);
  if (method != "_session/steering") return;
  Command steer;
  steer.kind = CommandKind::steer;
  steer.content = prompt_text(params);
  command(std::move(steer), now_ms, out);
}

// What the driver wants to set and the recorded client did not is as if it had been set.
void AcpReplay::answer_settings(std::int64_t now_ms, Actions& out) {
  for (;;) {
    auto setting = std::ranges::find_if(ours_, [&](const Request& each) {
      bool answered_later = std::ranges::any_of(asked_, [&](const auto& asked) { return asked.second == each.kind; });
      return is_setting(each.kind) && !answered_later;
    });
    if (setting == ours_.end()) return;
    std::string answer = R"({"jsonrpc":"2.0","id":)" + setting->id + R"(,"result":{}})";
    ours_.erase(setting);
    step([&](Actions& done) { driver_.record(answer, now_ms, done); }, out);
  }
}

// The driver says the first prompt by itself.
void AcpReplay::client_prompt(std::string_view params, std::int64_t now_ms, Actions& out) {
  answer_settings(now_ms, out);
  if (prompts_++ == 0) return;
  using Turn = Hints::Turn;
  Turn turn = driver_.hints().turn;
  Command words;
  words.kind = turn == Turn::running || turn == Turn::waiting ? CommandKind::queue : CommandKind::resume;
  (words.kind == CommandKind::queue ? words.content : words.guidance) = prompt_text(params);
  command(std::move(words), now_ms, out);
}

void AcpReplay::client_answer(std::string_view line, std::int64_t now_ms, Actions& out) {
  std::string_view id = find_member(line, "id");
  if (auto ask = asks_.find(id); ask != asks_.end()) {
    Ask asked = std::move(ask->second);
    asks_.erase(ask);
    return decide(asked, find_member(line, "result"), now_ms, out);
  }
  auto call = calls_.find(id);
  if (call == calls_.end()) return;
  HostAnswer answer = recorded_host_answer(call->second, line);
  calls_.erase(call);
  step([&](Actions& done) { driver_.answer(answer, now_ms, done); }, out);
}

void AcpReplay::decide(const Ask& ask, std::string_view result, std::int64_t now_ms, Actions& out) {
  Command decision;
  decision.approval_id = ask.approval_id;
  if (std::string action = text_member(result, "action"); !action.empty()) {
    decision.kind = action == "accept" ? CommandKind::answer : CommandKind::deny;
    decision.answers_json = find_member(result, "content");
    return command(std::move(decision), now_ms, out);
  }
  decision.option = text_member(find_member(result, "outcome"), "optionId");
  if (decision.option.empty()) return;  // cancelled: the interrupt did it
  std::string kind;
  for (auto each : array_elements(find_member(ask.params, "options")).value_or(std::vector<std::string_view>())) {
    if (text_member(each, "optionId") == decision.option) kind = text_member(each, "kind");
  }
  decision.kind = kind.starts_with("allow") ? CommandKind::approve : CommandKind::deny;
  command(std::move(decision), now_ms, out);
}

void AcpReplay::command(Command command, std::int64_t now_ms, Actions& out) {
  command.id = "said-" + std::to_string(said_);
  step([&](Actions& done) { driver_.command(command, now_ms, done); }, out);
}

}  // namespace shepherd
