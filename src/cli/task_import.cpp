#include "cli/task_import.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "json/scan.h"
#include "json/tree.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "outbox/limits.h"

namespace shepherd {
namespace {

namespace json = boost::json;

// The members of a task's public object that describe it. Members that would trigger actions are left out: agent and
// runner (the task would run again), callbackURL, timeout and budget.
constexpr std::string_view kToldMembers[] = {"id",   "namespace", "title",    "task",         "repo",       "model",
                                             "mode", "labels",    "maxTurns", "allowedTools", "workflowID", "resumeOf"};

constexpr std::string_view kImportedLabel = "imported";  // value: the agent that did the task

json::object creation_of(const json::object& given) {
  json::object body;
  for (std::string_view name : kToldMembers) {
    const json::value* member = given.if_contains(name);
    bool empty = member == nullptr || member->is_null() || (member->is_string() && member->get_string().empty());
    if (!empty) body[name] = *member;
  }
  json::value& labels = body["labels"];
  if (!labels.is_object()) labels = json::object();
  std::string agent = text_member(given, "agent");
  if (!labels.get_object().contains(kImportedLabel)) {
    labels.get_object()[kImportedLabel] = agent.empty() ? "external" : agent;
  }
  return body;
}

// Always the same for the same file, so that a second import repeats the first.
std::string closing_event(std::string_view timestamp) {
  json::object event{{"type", "status"},
                     {"timestamp", timestamp},
                     {"summary", "cancelled: it had not ended when it was exported"},
                     {"data", {{"state", "cancelled"}, {"message", "it had not ended when it was exported"}}}};
  std::string text = json::serialize(event);
  return text.substr(1, text.size() - 2);
}

std::uint64_t stable_hash(std::string_view a, std::string_view b) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, the same on every machine and in every version
  for (std::string_view text : {a, std::string_view("\n"), b}) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

// The event's own members without braces; leaves out the number and times that the server set.
Result<std::string> members_of(std::string_view event) {
  if (std::string_view body = body_of(event); !body.empty()) return std::string(body);
  boost::system::error_code error;
  json::value value = json::parse(event, error);
  if (error || !value.is_object()) {
    return fail(ErrorCode::invalid_argument, "bad_event", "is not a JSON object");
  }
  json::object object = std::move(value.get_object());
  for (const char* own : {"sequence", "receivedAt", "producer", "late"}) object.erase(own);
  std::string text = json::serialize(object);
  return text.substr(1, text.size() - 2);
}

std::string with_type(std::string_view members, std::string_view type) {
  json::object object = json::parse("{" + std::string(members) + "}").get_object();
  object["type"] = type;
  std::string text = json::serialize(object);
  return text.substr(1, text.size() - 2);
}

bool same_event(std::string_view a, std::string_view b) {
  Result<EventView> left = parse_event(a);
  Result<EventView> right = parse_event(b);
  return left && right && left->timestamp_ms == right->timestamp_ms && left->type_name == right->type_name &&
         left->summary == right->summary && left->tool == right->tool;
}

}  // namespace

Result<void> TaskImport::line(std::string_view text) {
  std::string_view task = find_member(text, "task");
  bool is_header = task.starts_with('{') && find_member(text, "type").empty();
  if (is_header) return begin_task(task);
  if (task_.empty()) {
    return fail(ErrorCode::invalid_argument, "no_task",
                "comes before any {\"task\":{…}} line; is this a file that \"shepherd export\" wrote?");
  }
  return event(text);
}

Result<void> TaskImport::begin_task(std::string_view source) {
  if (Result<void> done = finish(); !done) return done;
  boost::system::error_code error;
  json::value value = json::parse(source, error);
  const json::object* given = error ? nullptr : value.if_object();
  const json::value* id = given == nullptr ? nullptr : given->if_contains("id");
  if (id == nullptr || !id->is_string()) {
    return fail(ErrorCode::invalid_argument, "bad_task", "has a task without an id");
  }
  std::string task(id->get_string());
  json::object body = creation_of(*given);
  Result<CreatedTask> created = client_.create_task(json::serialize(body));
  if (!created && created.error().reason == "unknown_resume_task") {
    body.erase("resumeOf");  // the earlier task was not exported with it
    created = client_.create_task(json::serialize(body));
  }
  if (created) {
    there_before_ = created->task.last_sequence;
  } else if (created.error().reason == "task_exists") {
    // Same id but a different request: the log decides whether it is the same task.
    Result<TaskView> known = client_.task(task);
    if (!known) return fail(known.error());
    there_before_ = known->last_sequence;
    foreign_ = true;
  } else {
    return fail(created.error());
  }
  task_ = std::move(task);
  last_time_ = text_member(*given, "createdAt");
  ++totals_.tasks;
  return {};
}

Result<void> TaskImport::begin_log(std::string_view first_event) {
  begun_ = true;
  producer_ = fmt::format("import-{:016x}", stable_hash(task_, first_event));
  comparing_ = foreign_;  // an existing task without a log may wait for its runner, so it must not be ended here
  if (there_before_ == 0) return {};
  Result<LogPage> page = client_.events(task_, {{"after", "0"}, {"limit", "1"}});
  if (!page) return fail(page.error());
  std::string own = fmt::format("\"{}\"", producer_);
  comparing_ = page->events.empty() || find_member(page->events.front(), "producer") != own;
  return {};
}

Result<void> TaskImport::event(std::string_view source) {
  ++totals_.events;
  // Without a timestamp the server would use its own time, and a second import would differ from the first.
  std::string_view time = find_member(source, "timestamp");
  if (time.size() < 2) return fail(ErrorCode::invalid_argument, "no_timestamp", "is an event without a timestamp");
  last_time_ = time.substr(1, time.size() - 2);
  Result<std::string> members = members_of(source);
  if (!members) return fail(members.error());
  if (!begun_) {
    if (Result<void> begun = begin_log(*members); !begun) return begun;
  }
  if (comparing_) return compare(source);

  std::string_view type_source = find_member(source, "type");
  std::string_view type_name = type_source.size() > 2 ? type_source.substr(1, type_source.size() - 2) : type_source;
  EventType type = event_type(type_name);
  if (type == EventType::command) return queue(with_type(*members, "imported_command"));
  if (type == EventType::status && is_terminal(end_state_of(type, *members))) {
    if (end_.empty()) {
      end_ = *std::move(members);
      return {};
    }
    return queue(with_type(*members, "imported_status"));
  }
  return queue(*members);
}

Result<void> TaskImport::compare(std::string_view source) {
  if (page_used_ == page_.events.size()) {
    Result<LogPage> page = client_.events(task_, {{"after", page_after_}, {"limit", std::to_string(kPostLines)}});
    if (!page) return fail(page.error());
    page_ = *std::move(page);
    page_used_ = 0;
    if (!page_.events.empty()) page_after_ = find_member(page_.events.back(), "sequence");
  }
  if (page_used_ < page_.events.size() && same_event(source, page_.events[page_used_])) {
    ++page_used_;
    return {};
  }
  return fail(ErrorCode::conflict, "other_log",
              fmt::format("task {} is already here with another log; delete it first (shepherd tasks delete {})", task_,
                          task_));
}

Result<void> TaskImport::queue(std::string_view members) {
  batch_ += fmt::format(R"({{"sequence":{},)", ++number_);
  batch_ += members;
  batch_ += "}\n";
  if (++batch_events_ >= kPostLines || batch_.size() >= kPostBytes) return post();
  return {};
}

Result<void> TaskImport::post() {
  if (batch_events_ == 0) return {};
  Result<Posted> posted = client_.post_events(task_, batch_, producer_);
  if (!posted && (posted.error().reason == "sequence_reused" || posted.error().code == ErrorCode::gone)) {
    return fail(
        ErrorCode::conflict, "imported_before",
        fmt::format("task {} was imported before, from another file; to have this one, delete it first (shepherd "
                    "tasks delete {})",
                    task_, task_));
  }
  if (!posted) return fail(posted.error());
  if (posted->sequence > there_before_) {
    totals_.added += posted->sequence - there_before_;
    there_before_ = posted->sequence;
  }
  batch_.clear();
  batch_events_ = 0;
  return {};
}

// No runner works on an imported task, so an open task and its approvals would wait forever.
Result<void> TaskImport::end_task() {
  std::string end = std::exchange(end_, {});
  if (end.empty()) end = closing_event(last_time_.empty() ? "1970-01-01T00:00:00.000Z" : last_time_);
  if (!begun_) {
    if (Result<void> begun = begin_log(end); !begun) return begun;
  }
  if (comparing_) return {};
  if (Result<void> queued = queue(end); !queued) return queued;
  return post();
}

Result<void> TaskImport::finish() {
  if (!task_.empty()) {
    if (Result<void> ended = end_task(); !ended) return ended;
  }
  task_.clear();
  there_before_ = number_ = 0;
  begun_ = comparing_ = foreign_ = false;
  page_ = {};
  page_used_ = 0;
  page_after_ = "0";
  return {};
}

}  // namespace shepherd
