// Feeds: a request becomes a WebSocket, an event stream or a page. All refusals happen before that.
#include <charconv>
#include <utility>

#include "api/event_page.h"
#include "api/frames.h"
#include "api/handlers.h"
#include "api/live_logs.h"
#include "api/live_sse.h"
#include "api/live_websocket.h"
#include "api/query.h"
#include "journal/cursor.h"

namespace shepherd {
namespace {

bool wants_event_stream(const net::Request& request) {
  return request.header("accept").find("text/event-stream") != std::string_view::npos;
}

StreamTrail trail_of(const Call& call, std::string task, std::uint64_t after) {
  StreamTrail trail;
  trail.principal = call.principal();
  trail.peer = call.request().peer;
  trail.task = std::move(task);
  trail.status = call.request().is_websocket ? 101 : 200;
  trail.begun_wall_ms = call.parts().clock.wall_ms();
  trail.begun_steady_ms = call.parts().clock.steady_ms();
  trail.after = after;
  return trail;
}

// The parameters of a stream, from its query and headers.
struct StreamRequest {
  std::string resume;  // Last-Event-ID, otherwise `after`; empty if neither is given
  bool from_header = false;
  std::optional<std::uint64_t> tail;
  TypeFilter types;
  bool deltas = false;
};

Result<StreamRequest> stream_request(const Call& call, const Query& query) {
  StreamRequest request;
  auto tail = query.number("tail");
  auto types = query.types();
  auto deltas = query.flag("deltas");
  if (!tail) return fail(tail.error());
  if (!types) return fail(types.error());
  if (!deltas) return fail(deltas.error());
  request.tail = *tail;
  request.types = std::move(*types);
  request.deltas = *deltas;
  if (std::string_view id = call.request().header("last-event-id"); !id.empty()) {
    request.resume = id;
    request.from_header = true;
  } else {
    request.resume = query.text("after").value_or("");
  }
  // A reconnect continues where it was, whatever the first request specified.
  if (request.from_header) request.tail.reset();
  if (request.tail && !request.resume.empty()) {
    return fail(bad_parameter("tail", "`tail` and `after` exclude each other."));
  }
  return request;
}

std::string_view resume_name(const StreamRequest& request) {
  return request.from_header ? "Last-Event-ID" : "after";
}

struct Resume {
  std::uint64_t after = 0;
  bool ended = false;  // "7.end": the client has already received task_complete
};

Result<Resume> parse_resume(const StreamRequest& request) {
  Resume resume;
  std::string_view text = request.resume;
  if (text.empty()) return resume;
  if (request.from_header && text.ends_with(".end")) {
    resume.ended = true;
    text.remove_suffix(4);
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), resume.after);
  if (error != std::errc() || end != text.data() + text.size() || resume.after > INT64_MAX) {
    return fail(bad_parameter(resume_name(request),
                              "`" + std::string(resume_name(request)) + "` must be a whole number, 0 or more."));
  }
  return resume;
}

// A client that selects commands by name on the runners' listener delivers them to the agent.
bool takes_commands(const Call& call, const TypeFilter& types) {
  return call.on_internal() && (types.known & mask_of(EventType::command)) != 0;
}

void open_task_stream(Call call, StreamRequest request, Resume resume) {
  const EventStore& store = call.parts().journal.store();
  auto newest = store.read_before(call.id(), 0, {1, 1});  // shows the log's range and whether the task has ended
  if (!newest) return call.fail(newest.error());
  if (resume.after > newest->head) return call.fail(cursor_ahead(newest->head));
  if (resume.ended && resume.after == newest->head && !newest->complete.empty()) {
    net::Response nothing_follows;
    nothing_follows.status = 204;
    return call.send(std::move(nothing_follows));
  }
  FeedOptions options;
  options.task = call.id();
  options.after = resume.after;
  if (request.tail) {
    auto start = tail_start(store, call.id(), *request.tail, request.types);
    if (!start) return call.fail(start.error());
    options.after = *start;
  }
  options.types = std::move(request.types);
  options.deltas = request.deltas;
  StreamTrail trail = trail_of(call, options.task, options.after);
  trail.takes_commands = takes_commands(call, options.types);
  Core& core = call.core();
  if (call.request().is_websocket) {
    options.encoder = &websocket_task_frames();
    return call.upgrade(std::make_shared<LiveWebSocket>(core, std::move(options), std::move(trail)));
  }
  options.encoder = &sse_task_frames();
  std::string start_id = std::to_string(options.after);
  call.stream(LiveSse::head(),
              std::make_shared<LiveSse>(core, std::move(options), std::move(trail), std::move(start_id)));
}

// The tasks that a multiplexed feed may carry: the requested ones, or all that the caller may see.
Result<std::optional<std::set<std::string>>> chosen_tasks(const Principal& principal,
                                                          const std::optional<std::vector<std::string>>& asked) {
  if (!asked) {
    if (principal.may(Right::view, "")) return std::nullopt;
    return std::set<std::string>{principal.only_task};
  }
  std::set<std::string> tasks(asked->begin(), asked->end());
  for (const std::string& task : tasks) {
    if (!principal.may(Right::view, task)) {
      return fail(ErrorCode::permission_denied, "forbidden", "This token may not see task " + task + ".");
    }
  }
  return tasks;
}

Result<std::uint64_t> newest_position(const EventStore& store, const std::optional<std::set<std::string>>& tasks,
                                      bool named) {
  std::vector<std::string> names{""};
  if (tasks && named) names.insert(names.end(), tasks->begin(), tasks->end());
  auto heads = store.heads(names);
  if (!heads) return fail(heads.error());
  for (const std::string& name : names) {
    if (!name.empty() && !heads->contains(name)) {
      return fail(
          Error{ErrorCode::not_found, "unknown_task", "There is no task " + name + ".", {}}.with("taskID", name));
    }
  }
  auto newest = heads->find("");
  return newest == heads->end() ? 0 : newest->second;
}

void open_all_stream(Call call, StreamRequest request, std::optional<std::uint64_t> after,
                     std::optional<std::set<std::string>> tasks, bool named) {
  auto place = call.parts().journal.store().newest_place();
  if (!place) return call.fail(place.error());
  auto newest = newest_position(call.parts().journal.store(), tasks, named);
  if (!newest) return call.fail(newest.error());
  if (after && *after > *newest) {
    Error ahead{ErrorCode::conflict,
                "cursor_ahead",
                "This cursor is beyond the store's newest event. Start again without one.",
                {}};
    return call.fail(std::move(ahead).with("cursor", encode_cursor(*newest)));
  }
  std::uint64_t start = after.value_or(*newest - std::min(*newest, request.tail.value_or(0)));
  if (request.tail && tasks) {
    auto found = tail_start(call.parts().journal.store(), *tasks, *newest, *request.tail, request.types);
    if (!found) return call.fail(found.error());
    start = *found;
  }
  FeedOptions options;
  options.after = start;
  options.types = std::move(request.types);
  options.deltas = request.deltas;
  options.tasks = std::move(tasks);
  StreamTrail trail = trail_of(call, "", options.after);
  trail.takes_commands = takes_commands(call, options.types);
  Core& core = call.core();
  if (call.request().is_websocket) {
    options.encoder = &websocket_all_frames();
    return call.upgrade(std::make_shared<LiveWebSocket>(core, std::move(options), std::move(trail), *place));
  }
  options.encoder = &sse_all_frames();
  std::string start_id = encode_cursor(options.after);
  call.stream(LiveSse::head(),
              std::make_shared<LiveSse>(core, std::move(options), std::move(trail), std::move(start_id)));
}

// Needs nothing from the store: every log is checked when it is subscribed to.
void open_log_by_log(Call call, StreamRequest request) {
  if (!call.request().is_websocket) return call.fail(bad_parameter("each", "`each` is for a WebSocket."));
  StreamTrail trail = trail_of(call, "", 0);
  trail.takes_commands = takes_commands(call, request.types);
  Core& core = call.core();
  call.upgrade(std::make_shared<LiveLogs>(core, std::move(request.types), request.deltas, std::move(trail)));
}

}  // namespace

void get_task_events(Call call) {
  if (!call.request().is_websocket && !wants_event_stream(call.request())) return get_event_page(std::move(call));
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto request = stream_request(call, *query);
  if (!request) return call.fail(request.error());
  auto resume = parse_resume(*request);
  if (!resume) return call.fail(resume.error());
  // A filtered tail looks back over much of the log.
  bool scans = request->tail && !request->types.everything();
  Call::on_lane(scans ? &Lanes::scans : &Lanes::feeds, std::move(call),
                [request = std::move(*request), resume = *resume](Call on_lane) mutable {
                  open_task_stream(std::move(on_lane), std::move(request), resume);
                });
}

void get_all_events(Call call) {
  if (!call.request().is_websocket && !wants_event_stream(call.request())) {
    return call.fail({ErrorCode::invalid_argument,
                      "not_acceptable",
                      "Many logs at once come by WebSocket or with `Accept: text/event-stream`. For pages, read "
                      "/api/v1/tasks/{id}/events.",
                      {}},
                     406);
  }
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto request = stream_request(call, *query);
  if (!request) return call.fail(request.error());
  auto each = query->flag("each");
  if (!each) return call.fail(each.error());
  if (*each) return open_log_by_log(std::move(call), std::move(*request));
  std::optional<std::uint64_t> after;
  if (!request->resume.empty()) {
    auto position = decode_cursor(request->resume);
    if (!position) return call.fail(bad_parameter(resume_name(*request), position.error().message));
    after = *position;
  }
  auto asked = query->tasks();
  if (!asked) return call.fail(asked.error());
  auto tasks = chosen_tasks(*call.principal(), *asked);
  if (!tasks) return call.fail(tasks.error());
  Call::on_lane(&Lanes::feeds, std::move(call),
                [request = std::move(*request), after, tasks = std::move(*tasks),
                 named = asked->has_value()](Call on_lane) mutable {
                  open_all_stream(std::move(on_lane), std::move(request), after, std::move(tasks), named);
                });
}

}  // namespace shepherd
