#include "steering/server_event.h"

#include <utility>

#include "base/assert.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::size_t kSummaryCharacters = 200;  // characters of an operator's text; `data` has all of it

std::string event_json(std::string_view type, std::string_view summary, std::string_view event_id,
                       std::string_view data) {
  std::string out = object_text([&](JsonObject& event) {
    event.text("type", type);
    event.text("summary", summary);
    event.text_unless_empty("eventID", event_id);
    event.json("data", data);
  });
  return out;
}

Result<AppendRequest> request_of(const std::string& task, const std::string& json, const Redactor* redactor,
                                 std::int64_t now_ms) {
  Intake intake;
  intake.redactor = redactor;
  intake.now_ms = now_ms;
  intake.allow_reserved = true;
  auto drafts = decode_events(json, Framing::json, intake);
  if (!drafts) return fail(std::move(drafts.error()));
  AppendRequest request;
  request.task = task;
  request.drafts = std::move(*drafts);
  request.received_ms = now_ms;
  return request;
}

// Intake always accepts the server's own short texts.
AppendRequest own_request(const std::string& task, const std::string& json, std::int64_t now_ms) {
  auto request = request_of(task, json, nullptr, now_ms);
  SHEPHERD_ASSERT(request.has_value(), "an event of the server is well formed");
  request->by_server = true;
  return std::move(*request);
}

std::string_view words_of(const Command& command) {
  switch (command.kind) {
    case CommandKind::steer:
    case CommandKind::queue:
      return command.content;
    case CommandKind::interrupt:
    case CommandKind::stop:
      return command.reason;
    case CommandKind::resume:
      return command.guidance;
    case CommandKind::set_mode:
      return name(command.mode);
    case CommandKind::approve:
    case CommandKind::deny:
      return command.message;
    case CommandKind::answer:
      return {};
  }
  return {};
}

}  // namespace

std::string command_summary(const Command& command) {
  std::string summary(name(command.kind));
  std::string_view words = words_of(command);
  words = words.substr(0, words.find_first_of("\r\n"));
  if (!words.empty()) summary.append(": ").append(truncated(words, kSummaryCharacters));
  return summary;
}

Result<PreparedCommand> prepare_command(const std::string& task, Command command, const Redactor* redactor,
                                        std::int64_t now_ms) {
  auto request = request_of(
      task, event_json("command", command_summary(command), "command:" + command.id, encode_command(command)), redactor,
      now_ms);
  if (!request) return fail(std::move(request.error()));
  // All later events refer to the command by this id, so redaction must not have changed it.
  std::string_view data = find_member(request->drafts.body(request->drafts.drafts.front()), "data");
  if (string_value(find_member(data, "id")) != command.id) {
    return fail(ErrorCode::invalid_argument, "bad_command_id", "This id looks like a secret. Use another one.");
  }
  std::string reason = redactor == nullptr ? command.reason : redactor->redact(command.reason);
  return PreparedCommand{std::move(command), std::move(*request), std::move(reason)};
}

AppendRequest command_result_event(const std::string& task, std::string_view command_id, CommandState state,
                                   std::string_view reason, std::string_view event_id, std::int64_t now_ms) {
  std::string summary = "command " + std::string(name(state));
  if (!reason.empty()) summary.append(": ").append(reason);
  return own_request(
      task, event_json("command_result", summary, event_id, encode_command_result(command_id, state, reason)), now_ms);
}

AppendRequest status_event(const std::string& task, State state, std::string_view message, std::string_view members,
                           std::string_view event_id, std::int64_t now_ms) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("state", name(state));
    object.text_unless_empty("message", message);
    object.members(members);
  });
  return own_request(task, event_json("status", message.empty() ? name(state) : message, event_id, data), now_ms);
}

AppendRequest approval_expired_event(const std::string& task, std::string_view approval_id, std::string_view message,
                                     std::string_view event_id, std::int64_t now_ms) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("approvalID", approval_id);
    object.text("state", "expired");
    object.text("message", message);
  });
  return own_request(task, event_json("approval", "expired: " + std::string(message), event_id, data), now_ms);
}

}  // namespace shepherd
