#include "json/request.h"

#include "json/write.h"
#include "model/event_members.h"
#include "model/wire_json.h"
namespace shepherd {
namespace {

// A status update in the form that older runners post.
struct StatusUpdate {
  std::string event, message;
  std::string pr_url, error, reason;
  std::string details;  // as given, or empty
};

Result<StatusUpdate> read_update(std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  StatusUpdate update;
  request.text("event", update.event);
  request.text("message", update.message);
  if (auto details = request.object("details")) {
    details->text("pr_url", update.pr_url);
    details->text("prURL", update.pr_url);
    details->text("error", update.error);
    details->text("reason", update.reason);
    if (details->raw().size() > 0) update.details = simdjson::minify(details->raw());
  }
  if (error) return fail(*error);
  return update;
}

// The state that an update reports; none for progress, which only changes the message.
Result<std::optional<State>> state_of(const StatusUpdate& update) {
  if (update.event == "started") return State::running;
  if (update.event == "progress") return std::nullopt;
  if (update.event == "completed") return State::completed;
  if (update.event != "failed") return fail(bad_member("event", "one of started, progress, completed, failed"));
  if (update.reason == "timed_out") return State::timed_out;
  if (update.reason == "cancelled") return State::cancelled;
  return State::failed;
}

std::string event_json(const StatusUpdate& update, std::optional<State> state) {
  std::string out = object_text([&](JsonObject& event) {
    event.text("type", "status");
    event.text("summary", update.message.empty() ? update.event : update.message);
    write_object(event.member("data"), [&](JsonObject& data) {
      data.text("event", update.event);
      if (state) data.text("state", name(*state));
      data.text_unless_empty("message", update.message);
      data.text_unless_empty("prURL", update.pr_url);
      data.text_unless_empty("error", update.error);
      if (!update.details.empty()) data.json("details", update.details);
    });
  });
  return out;
}

}  // namespace

Result<DraftBatch> decode_status_update(std::string_view json, const Intake& intake) {
  auto update = read_update(json);
  if (!update) return fail(update.error());
  auto state = state_of(*update);
  if (!state) return fail(state.error());
  return decode_events(event_json(*update, *state), Framing::json, intake);
}

}  // namespace shepherd
