#include <utility>

#include "driver/http_envelope.h"
#include "driver/opencode/opencode_server.h"
#include "driver/opencode/settings.h"
#include "json/write.h"

namespace shepherd {

void OpenCodeServer::send(Request request, std::string_view method, std::string path, std::string body, Actions& out) {
  std::string id = std::to_string(next_request_++);
  out.write(http_request_line({id, std::string(method), std::move(path), std::move(body)}));
  requests_.emplace(std::move(id), std::move(request));
}

// A message to the model. During a turn it is taken up after the step that runs.
void OpenCodeServer::say(std::string command_id, std::string_view text, Actions& out) {
  std::string body = object_text([&](JsonObject& object) {
    if (std::size_t slash = launched_.model.find('/'); slash != std::string::npos) {
      object.object("model", [&](JsonObject& model) {
        model.text("providerID", std::string_view(launched_.model).substr(0, slash));
        model.text("modelID", std::string_view(launched_.model).substr(slash + 1));
      });
    }
    if (!launched_.rules.empty()) object.text("system", launched_.rules);
    std::string& parts = object.member("parts");
    parts.append(R"([{"type":"text","text":)");
    append_json_string(parts, text);
    parts.append("}]");
  });
  send({Asked::prompt, command_id, false}, "POST", "/session/" + session_ + "/prompt_async", std::move(body), out);
  words_.push_back({command_id, "", false});
  if (!command_id.empty()) out.settle({std::move(command_id), CommandState::delivered, ""});
}

void OpenCodeServer::command(const Command& command, std::int64_t now_ms, Actions& out) {
  events_.without_record(now_ms);
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  auto hold = [&](std::string reason) {
    held_.push_back(command);
    out.settle({command.id, CommandState::accepted, std::move(reason)});
  };
  switch (command.kind) {
    case CommandKind::steer:
    case CommandKind::queue:
      if (session_.empty()) return hold("held until there is a session");
      if (command.kind == CommandKind::queue && in_turn()) return hold("held for the next turn");
      return say(command.id, command.content, out);
    case CommandKind::interrupt:
      if (!in_turn() || session_.empty()) return refuse("no turn is running");
      send({Asked::abort, command.id, false}, "POST", "/session/" + session_ + "/abort", "", out);
      break;
    case CommandKind::resume:
      if (in_turn()) return refuse("a turn is running; steer it instead");
      return say(command.id, command.guidance.empty() ? "Continue." : command.guidance, out);
    case CommandKind::set_mode:
      if (command.mode == AgentMode::interactive && launched_.mode == AgentMode::autonomous) {
        return refuse("this agent was started so that it does not ask");
      }
      mode_ = command.mode;
      while (mode_ == AgentMode::autonomous && !approvals_.empty()) decide_by_mode(approvals_.first(), out);
      return out.settle({command.id, CommandState::acknowledged, ""});
    case CommandKind::approve:
    case CommandKind::deny:
    case CommandKind::answer:
      return answer_approval(command, out);
    case CommandKind::stop:
      stopping_ = true;
      for (const Command& held : std::exchange(held_, {})) {
        out.settle({held.id, CommandState::refused, "the task was stopped"});
      }
      if (!in_turn() || session_.empty()) {
        out.settle({command.id, CommandState::acknowledged, ""});
        return out.close_input();
      }
      send({Asked::abort, command.id, true}, "POST", "/session/" + session_ + "/abort", "", out);
      break;
  }
  out.settle({command.id, CommandState::delivered, ""});
}

void OpenCodeServer::withdraw(std::string_view command_id) {
  std::erase_if(held_, [&](const Command& held) { return held.id == command_id; });
}

// One for each turn.
void OpenCodeServer::release_held(Actions& out) {
  if (held_.empty() || session_.empty()) return;
  Command next = std::move(held_.front());
  held_.pop_front();
  say(next.id, next.content, out);
}

}  // namespace shepherd
