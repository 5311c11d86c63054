#include "api/live_websocket.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "api/frames.h"
#include "api/limits.h"
#include "api/status_map.h"
#include "base/ids.h"
#include "json/write.h"
#include "model/command.h"
#include "model/wire_json.h"
#include "net/websocket_frame.h"

namespace shepherd {
namespace {

namespace json = boost::json;

std::string_view text_view(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return value->get_string();
}

}  // namespace

Error LiveWebSocket::bad_message(std::string text) {
  return {ErrorCode::invalid_argument, "bad_message", std::move(text), {}};
}

Result<std::set<std::string>> LiveWebSocket::named_tasks(const json::value& value) {
  std::set<std::string> tasks;
  if (!value.is_array()) return fail(bad_message("`tasks` must be an array of task ids."));
  for (const json::value& item : value.get_array()) {
    if (!item.is_string() || !is_task_id(item.get_string())) {
      return fail(bad_message("`tasks` must be an array of task ids."));
    }
    tasks.emplace(item.get_string());
  }
  return tasks;
}

LiveWebSocket::LiveWebSocket(Core& core, FeedOptions options, StreamTrail trail)
    : LiveStream(core, std::move(options), std::move(trail)) {}

LiveWebSocket::LiveWebSocket(Core& core, FeedOptions options, StreamTrail trail, Place place)
    : LiveStream(core, options, std::move(trail)),
      selection_(std::make_unique<Selection>(std::move(options.tasks), place)) {}

void LiveWebSocket::on_start() {
  if (selection_ != nullptr) core().updates.watch(selection_->place);
}

void LiveWebSocket::on_stop() {
  if (selection_ != nullptr) core().updates.unwatch();
}

void LiveWebSocket::on_second(std::int64_t) {
  if (selection_ == nullptr) return;
  core().updates.tick();
  core().inbox_updates.tick();
}

void LiveWebSocket::on_task_updates(const std::vector<TaskUpdate>& updates) {
  for (const TaskUpdate& update : updates) {
    if (selection_->tasks && !selection_->tasks->contains(update.task)) continue;
    if (!say(update.frame)) return;  // a slow reader gets the row's next change
  }
}

void LiveWebSocket::on_inbox_update(const ByteSpan& frame) {
  (void)say(frame);  // a slow reader gets the next one
}

void LiveWebSocket::on_message(std::string_view text) {
  if (ended()) return;
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return refuse(bad_message("A message must be a JSON object."), "");
  const json::object& message = value.get_object();
  std::string_view type = text_view(message, "type");
  std::string_view id = text_view(message, "id");
  if (command_kind(type)) return command(message, text, id);
  if (type != "subscribe" && type != "unsubscribe") {
    return refuse({ErrorCode::invalid_argument, "unsupported", "This server does not take this type of message.", {}},
                  id);
  }
  if (auto changed = change(message, type == "subscribe"); !changed) return refuse(changed.error(), id);
  std::optional<std::set<std::string>> tasks = followed();
  std::string data = R"({"all":)";
  data += tasks ? "false" : "true";
  data += R"(,"tasks":[)";
  if (tasks) {
    for (const std::string& task : *tasks) {
      if (data.back() != '[') data += ',';
      append_json_string(data, task);
    }
  }
  data += "]}";
  answer("subscribed", data, id);
  on_changed();
}

void LiveWebSocket::command(const json::object& message, std::string_view text, std::string_view id) {
  std::string task(text_view(message, "taskID"));
  if (task.empty()) task = this->task();
  if (task.empty()) return refuse(bad_message("Say which task this is for: `taskID` is missing."), id);
  if (!principal().may(Right::command, task)) {
    return refuse({ErrorCode::permission_denied,
                   "forbidden",
                   "A token of scope " + std::string(name(principal().scope)) + " may not command tasks.",
                   {}},
                  id);
  }
  auto command = decode_command(text);
  if (!command) return refuse(command.error(), id);
  command->by = principal().person;
  // The writer's thread delivers the answer, and this stream may be gone by then.
  std::weak_ptr<LiveStream> stream = weak_from_this();
  auto on_stream = [stream, &home = executor()](auto act) {
    home.post([stream, act = std::move(act)] {
      if (auto self = stream.lock()) act(static_cast<LiveWebSocket&>(*self));
    });
  };
  core().parts.steering.commands().submit(
      task, std::move(*command), [on_stream, task, id = std::string(id)](Result<Submitted> submitted) {
        if (!submitted) {
          return on_stream([id, error = submitted.error()](LiveWebSocket& self) { self.refuse(error, id); });
        }
        on_stream([task, id = submitted->id, data = encode_submitted(task, *submitted)](LiveWebSocket& self) {
          self.answer("command_accepted", data, id, task);
        });
      });
}

Result<void> LiveWebSocket::change(const json::object& message, bool subscribe) {
  if (selection_ == nullptr) return fail(bad_message("This stream has one task. Use /api/v1/events to follow many."));
  std::optional<std::set<std::string>> next;
  const json::value* given = message.if_contains("tasks");
  if (given == nullptr) {
    if (!subscribe) return fail(bad_message("Say which `tasks` to leave."));
    if (!principal().may(Right::view, "")) next = {principal().only_task};
  } else {
    auto named = named_tasks(*given);
    if (!named) return fail(named.error());
    if (!subscribe && !selection_->tasks) {
      return fail(bad_message("This stream has every task. Subscribe to those you want to keep."));
    }
    next = selection_->tasks ? *selection_->tasks : std::set<std::string>();
    for (const std::string& task : *named) {
      if (!subscribe) {
        next->erase(task);
      } else if (!principal().may(Right::view, task)) {
        return fail(ErrorCode::permission_denied, "forbidden", "This token may not see task " + task + ".");
      } else {
        next->insert(task);
      }
    }
    if (next->size() > kMaxFeedTasks) {
      return fail(bad_message("At most " + std::to_string(kMaxFeedTasks) + " tasks fit in one feed."));
    }
  }
  selection_->tasks = next;
  follows(next);
  if (feed() != nullptr) feed()->set_tasks(std::move(next));
  return {};
}

std::optional<std::set<std::string>> LiveWebSocket::followed() const {
  return selection_->tasks;
}

void LiveWebSocket::answer(std::string_view type, std::string_view data, std::string_view id, std::string_view task) {
  std::string payload = R"({"type":")";
  payload += type;
  payload += '"';
  if (!id.empty()) {
    payload += R"(,"id":)";
    append_json_string(payload, id);
  }
  if (!task.empty()) {
    payload += R"(,"taskID":)";
    append_json_string(payload, task);
  }
  payload += R"(,"data":)";
  payload += data;
  payload += '}';
  std::string frame;
  net::append_frame(frame, net::Opcode::text, payload);
  if (!say(own_bytes(std::move(frame)))) end(kCloseRefused, "answers are not being read");
}

void LiveWebSocket::refuse(const Error& error, std::string_view id, std::string_view task) {
  std::string data = R"({"code":)";
  append_json_string(data, error.reason);
  data += R"(,"detail":)";
  append_json_string(data, error.message);
  data += R"(,"error":)";
  append_json_string(data, error.message);
  data += '}';
  answer("error", data, id, task);
}

}  // namespace shepherd
