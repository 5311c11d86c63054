#include "model/command.h"

#include <algorithm>
#include <array>

#include "json/read.h"
#include "json/request.h"
#include "json/write.h"
#include "model/event_members.h"
#include "model/limits.h"

namespace shepherd {
namespace {

constexpr std::array<std::string_view, kCommandKinds> kKinds{
    "steer", "queue", "interrupt", "resume", "set_mode", "approve", "deny", "answer", "stop",
};
constexpr std::array<std::string_view, 5> kCommandStates{"accepted", "delivered", "acknowledged", "refused", "expired"};
constexpr std::array<std::string_view, 2> kModes{"autonomous", "interactive"};

template <class Enum, std::size_t Count>
std::optional<Enum> named(const std::array<std::string_view, Count>& names, std::string_view name) {
  auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

// An object member as compact JSON text; empty when absent.
void read_object(JsonRequest& request, std::string_view key, std::string& into) {
  auto value = request.member(key);
  if (!value) return;
  if (!value->is_object()) {
    request.refuse(key, "an object");
  } else {
    into = simdjson::minify(*value);
  }
}

void needed(JsonRequest& request, std::string_view key, const std::string& value) {
  if (value.empty()) request.refuse(key, "there and not empty");
}

void read_members(JsonRequest& request, Command& command) {
  switch (command.kind) {
    case CommandKind::steer:
    case CommandKind::queue:
      request.text("content", command.content);
      read_object(request, "metadata", command.metadata_json);
      needed(request, "content", command.content);
      break;
    case CommandKind::interrupt:
    case CommandKind::stop:
      request.text("reason", command.reason);
      break;
    case CommandKind::resume:
      request.text("guidance", command.guidance);
      break;
    case CommandKind::set_mode: {
      std::string mode;
      request.text("mode", mode);
      auto known = agent_mode(mode);
      if (!known) request.refuse("mode", "\"autonomous\" or \"interactive\"");
      command.mode = known.value_or(command.mode);
      break;
    }
    case CommandKind::approve:
      read_object(request, "input", command.input_json);
      [[fallthrough]];
    case CommandKind::deny:
      request.text("message", command.message);
      request.text("remember", command.remember);
      request.text("option", command.option);
      [[fallthrough]];
    case CommandKind::answer:
      request.text("approvalID", command.approval_id);
      needed(request, "approvalID", command.approval_id);
      if (command.kind != CommandKind::answer) break;
      read_object(request, "answers", command.answers_json);
      needed(request, "answers", command.answers_json);
      break;
  }
}

Result<CommandKind> read_kind(JsonRequest& request) {
  std::string kind;
  request.text("kind", kind);
  if (kind.empty()) request.text("type", kind);
  auto known = command_kind(kind);
  if (known) return *known;
  std::string all;
  for (std::string_view name : kKinds) all.append(all.empty() ? "" : ", ").append(name);
  return fail(ErrorCode::invalid_argument, "unknown_kind",
              "\"kind\" must be one of " + all + (kind.empty() ? "" : "; \"" + kind + "\" is none of them"));
}

}  // namespace

std::string_view name(CommandKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}
std::optional<CommandKind> command_kind(std::string_view name) {
  return named<CommandKind>(kKinds, name);
}
std::string_view name(CommandState state) {
  return kCommandStates[static_cast<std::size_t>(state)];
}
std::optional<CommandState> command_state(std::string_view name) {
  return named<CommandState>(kCommandStates, name);
}
std::string_view name(AgentMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}
std::optional<AgentMode> agent_mode(std::string_view name) {
  return named<AgentMode>(kModes, name);
}

Result<Command> decode_command(std::string_view json) {
  if (json.size() > kMaxCommandBytes) {
    return fail(ErrorCode::too_large, "command_too_large",
                "a command may have at most " + std::to_string(kMaxCommandBytes) + " bytes");
  }
  JsonParser parser(json.size());
  auto root = parser.parse(json);
  if (!root) return fail(root.error());
  simdjson::dom::object object;
  if (root->get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::invalid_argument, "bad_command", "a command must be an object with \"kind\"");
  }
  std::optional<Error> error;
  JsonRequest request(object, "", error);
  Command command;
  auto kind = read_kind(request);
  if (error) return fail(*error);
  if (!kind) return fail(kind.error());
  command.kind = *kind;
  request.text("id", command.id);
  // A WebSocket message has the command's kind as its `type` and the command's members in `data`.
  auto inner = request.member("kind") ? std::nullopt : request.object("data");
  JsonRequest& members = inner ? *inner : request;
  read_members(members, command);
  members.text("by", command.by);
  members.whole("expiresSeconds", command.expires_seconds);
  if (command.expires_seconds < 1 || command.expires_seconds > kMaxCommandExpirySeconds) {
    members.refuse("expiresSeconds", "from 1 to " + std::to_string(kMaxCommandExpirySeconds));
  }
  if (error) return fail(*error);
  return command;
}

std::string encode_command(const Command& command) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("id", command.id);
    object.text("kind", name(command.kind));
    object.text_unless_empty("content", command.content);
    if (!command.metadata_json.empty()) object.json("metadata", command.metadata_json);
    object.text_unless_empty("reason", command.reason);
    object.text_unless_empty("guidance", command.guidance);
    if (command.kind == CommandKind::set_mode) object.text("mode", name(command.mode));
    object.text_unless_empty("approvalID", command.approval_id);
    if (!command.input_json.empty()) object.json("input", command.input_json);
    object.text_unless_empty("message", command.message);
    object.text_unless_empty("remember", command.remember);
    object.text_unless_empty("option", command.option);
    if (!command.answers_json.empty()) object.json("answers", command.answers_json);
    object.text_unless_empty("by", command.by);
    if (command.expires_seconds != kCommandExpirySeconds) object.number("expiresSeconds", command.expires_seconds);
  });
  return out;
}

std::string encode_command_result(std::string_view id, CommandState state, std::string_view reason) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("id", id);
    object.text("state", name(state));
    object.text_unless_empty("reason", reason);
  });
  return out;
}

}  // namespace shepherd
