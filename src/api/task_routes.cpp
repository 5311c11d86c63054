// Tasks: create, list, get, patch, delete.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "api/status_map.h"
#include "api/task_json.h"
#include "api/telemetry_intake.h"
#include "base/ids.h"
#include "base/limits.h"
#include "driver/registry/known_agent.h"
#include "json/write.h"
#include "model/task_warnings.h"
#include "model/wire_json.h"
#include "outbound/callback_target.h"
#include "redact/redacted_name.h"
#include "store/task_match.h"
#include "views/stats.h"
#include "views/tasks_between.h"

namespace shepherd {
namespace {

// The answer to a creation request: the task and warnings about ignored members.
std::string created_json(std::string task, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return task;
  task.back() = ',';  // the object continues
  task += R"("warnings":[)";
  for (const std::string& warning : warnings) {
    if (&warning != &warnings.front()) task += ',';
    append_json_string(task, warning);
  }
  return task + "]}";
}

std::string task_json(const Task& task, const ApiParts& parts) {
  std::string body;
  append_task_json(body, task, parts.steering, parts.redaction());
  return body;
}

Result<void> add_label(TaskFilter& filter, std::string_view label) {
  std::size_t cut = label.find('=');
  if (cut == std::string_view::npos) cut = label.find(':');
  if (cut == std::string_view::npos || cut == 0) {
    return fail(bad_parameter("label", "Write a label as key=value."));
  }
  filter.labels.emplace(label.substr(0, cut), label.substr(cut + 1));
  return {};
}

Result<TaskFilter> task_filter(const Query& query) {
  TaskFilter filter;
  if (auto text = query.text("state")) {
    filter.state = state_named(*text);
    if (!filter.state) return fail(bad_parameter("state", "There is no task state of that name."));
  }
  auto active = query.flag("active");
  if (!active) return fail(active.error());
  filter.active = *active;
  filter.agent = query.text("agent").value_or("");
  filter.workflow = query.text("workflow").value_or("");
  filter.repo = query.text("repo").value_or("");
  filter.issue = query.text("issue").value_or("");
  filter.fleet = query.text("fleet").value_or("");
  filter.text = query.text("text").value_or("");
  filter.before = query.text("before").value_or("");
  for (std::string_view label : query.all("label")) {
    if (auto added = add_label(filter, label); !added) return fail(added.error());
  }
  auto limit = query.limit(kTaskPage, kMaxTaskPage);
  if (!limit) return fail(limit.error());
  filter.limit = *limit;
  return filter;
}

// The rows of a list.
class TaskRows {
 public:
  TaskRows(ApiParts& parts, std::size_t limit) : parts_(parts), limit_(limit) {}

  Result<void> take_all(const TaskFilter& filter) {
    auto rows = parts_.journal.store().rows(filter);
    if (!rows) return fail(rows.error());
    for (const TaskRow& row : *rows) take(row);
    return {};
  }

  Result<void> take_between(const TaskFilter& filter, const TimeRange& range) {
    auto tasks = tasks_between(parts_.journal.store(), filter, range);
    if (!tasks) return fail(tasks.error());
    for (const TaskRow& task : *tasks) take(task);
    return {};
  }

  std::string json() const { return body_ + "]"; }
  bool more() const { return more_; }
  const std::string& last() const { return last_; }  // where the next page continues

 private:
  void take(const TaskRow& task) {
    more_ = shown_ == limit_;
    if (more_) return;
    if (shown_++ > 0) body_ += ',';
    append_row_json(body_, task, parts_.steering, parts_.redaction());
    last_ = place_after(task);
  }

  ApiParts& parts_;
  const std::size_t limit_;
  std::size_t shown_ = 0;
  bool more_ = false;
  std::string body_ = "[", last_;
};

// `from` and `to` as in /stats select tasks with an event received in that time. Nullopt if neither is given.
Result<std::optional<TimeRange>> time_range(const Query& query, std::int64_t now_ms) {
  if (!query.text("from") && !query.text("to")) return std::nullopt;
  auto from = time_named(query.text("from").value_or("1970-01-01T00:00:00Z"), now_ms);
  if (!from) return fail(bad_parameter("from", from.error().message));
  // Everything received so far was received before the next millisecond.
  auto to = time_named(query.text("to").value_or("now"), now_ms + 1);
  if (!to) return fail(bad_parameter("to", to.error().message));
  if (*to <= *from) return fail(bad_parameter("from", "`from` must be before `to`."));
  return TimeRange{*from, *to};
}

Error unknown_resume_task(const std::string& id) {
  return Error{
      ErrorCode::invalid_argument,
      "unknown_resume_task",
      "There is no task " + id + " to go on with. GET /api/v1/tasks lists them; leave `resumeOf` out to begin anew.",
      {}}
      .with("member", std::string("resumeOf"));
}

// Checked before the task is created, because a task without a session to resume would fail at its start.
Error no_session(const std::string& id) {
  return Error{ErrorCode::invalid_argument,
               "no_session",
               "The task " + id +
                   " has no conversation to go on with: its agent never said one. Leave `resumeOf` out to begin anew.",
               {}}
      .with("member", std::string("resumeOf"));
}

// An agent that gets the id of another one's session fails at its start, or goes on with a wrong one.
bool foreign_session(const TaskSpec& spec, const TaskRow& earlier) {
  std::string_view own = session_keeper(spec.agent), other = session_keeper(earlier.spec.agent);
  return !own.empty() && !other.empty() && own != other;
}

Error other_agent(const std::string& id, const std::string& agent, const std::string& earlier) {
  return Error{ErrorCode::invalid_argument,
               "other_agent",
               "The agent " + agent + " cannot go on with the conversation of task " + id + ", which " + earlier +
                   " has. Create the task with the agent " + earlier + ", or leave `resumeOf` out to begin anew.",
               {}}
      .with("member", std::string("resumeOf"));
}

// Titles are shown in many places, so secrets in them are redacted. The agent still gets the original text.
void redact_title(TaskSpec& spec, const Redactor* redactor) {
  if (redactor == nullptr) return;
  std::string shown = shown_title(spec);
  std::string redacted = redactor->redact(shown);
  if (redacted != shown) spec.title = std::move(redacted);
}

struct Creation {
  std::string key;    // Idempotency-Key
  bool named = true;  // the caller chose the id, so a key of a task with another id is a conflict
  std::vector<std::string> warnings;
};

void create_checked(Call call, TaskSpec spec, Creation creation) {
  Journal& journal = call.parts().journal;
  std::string id = creation.named ? spec.id : std::string();
  journal.create_task(
      std::move(spec), std::move(creation.key),
      [call = std::move(call), id = std::move(id),
       warnings = std::move(creation.warnings)](Result<Created> created) mutable {
        if (!created) return call.fail(created.error());
        const Task& task = created->task;
        if (!id.empty() && task.spec.id != id) {
          return call.fail({ErrorCode::conflict,
                            "idempotency_key_reused",
                            "This Idempotency-Key made task " + task.spec.id + ". Use a new key for a new request.",
                            {}});
        }
        std::string body = created_json(task_json(task, call.parts()), warnings);
        net::Response response = json_response(created->existed ? 200 : 201, std::move(body));
        response.headers.emplace_back("Location", "/api/v1/tasks/" + task.spec.id);
        call.send(std::move(response));
      });
}

// Deleting first writes a record, so it also needs a little free space.
Error with_advice(Error error) {
  if (error.code != ErrorCode::storage_full) return error;
  error.message +=
      "; deleting needs a few MiB free as well: move audit.*.ndjson or backups off that disk, or stop the server, "
      "remove "
      "search.db (it is built again), start it and delete then";
  return error;
}

}  // namespace

void create_task(Call call) {
  ApiParts& parts = call.parts();
  auto spec = decode_task_request(call.request().body);
  if (!spec) return call.fail(spec.error());
  redact_title(*spec, parts.redaction());
  if (!spec->callback_url.empty()) {
    if (auto target = callback_target(spec->callback_url); !target) return call.fail(target.error());
  }
  std::string_view key = call.request().header("idempotency-key");
  Creation creation{redacted_name(key, parts.redaction()), !spec->id.empty(), task_warnings(call.request().body)};
  if (key.size() > kMaxIdempotencyKeyBytes) {
    return call.fail({ErrorCode::invalid_argument,
                      "bad_idempotency_key",
                      "Idempotency-Key is longer than " + std::to_string(kMaxIdempotencyKeyBytes) + " bytes.",
                      {}});
  }
  if (!creation.named) spec->id = make_task_id(parts.clock.wall_ms(), parts.random);
  if (spec->resume_of.empty()) return create_checked(std::move(call), std::move(*spec), std::move(creation));
  Call::on_lane(&Lanes::intake, std::move(call),
                [spec = std::move(*spec), creation = std::move(creation)](Call on_worker) mutable {
                  auto earlier = on_worker.parts().journal.store().row(spec.resume_of);
                  if (!earlier && earlier.error().code != ErrorCode::not_found) return on_worker.fail(earlier.error());
                  if (!earlier) return on_worker.fail(unknown_resume_task(spec.resume_of));
                  if (earlier->state.session_id.empty()) return on_worker.fail(no_session(spec.resume_of));
                  if (foreign_session(spec, *earlier)) {
                    return on_worker.fail(other_agent(spec.resume_of, spec.agent, earlier->spec.agent));
                  }
                  create_checked(std::move(on_worker), std::move(spec), std::move(creation));
                });
}

void list_tasks(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto filter = task_filter(*query);
  if (!filter) return call.fail(filter.error());
  auto range = time_range(*query, call.parts().clock.wall_ms());
  if (!range) return call.fail(range.error());
  bool scans = range->has_value() || !filter->text.empty();
  Call::on_lane(scans ? &Lanes::scans : &Lanes::queries, std::move(call),
                [query = std::move(*query), filter = std::move(*filter), range = *range](Call on_worker) mutable {
                  TaskRows rows(on_worker.parts(), filter.limit);
                  ++filter.limit;  // one more shows whether there is a next page
                  auto read = range ? rows.take_between(filter, *range) : rows.take_all(filter);
                  if (!read) return on_worker.fail(read.error());
                  net::Response response = json_response(200, rows.json());
                  if (rows.more()) {
                    response.headers.emplace_back(
                        "Link", "</api/v1/tasks?" + query.with("before", rows.last()) + ">; rel=\"next\"");
                  }
                  on_worker.send(std::move(response));
                });
}

void get_task(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto at = query->number("at");
  if (!at) return call.fail(at.error());
  if (*at) return get_task_at(std::move(call), **at);
  Call::on_worker(std::move(call), [](Call on_worker) {
    auto task = on_worker.parts().journal.store().task(on_worker.id());
    if (!task) return on_worker.fail(task.error());
    on_worker.send_json(200, task_json(*task, on_worker.parts()));
  });
}

void patch_task(Call call) {
  ApiParts& parts = call.parts();
  std::string body = call.request().body;
  std::string id = call.id();
  parts.journal.update_task(
      std::move(id),
      [body = std::move(body), redactor = parts.redaction()](TaskSpec& spec) -> Result<void> {
        auto changed = apply_task_patch(spec, body);
        if (changed) redact_title(spec, redactor);
        return changed;
      },
      [call = std::move(call)](Result<Task> task) mutable {
        if (!task) return call.fail(task.error());
        call.send_json(200, task_json(*task, call.parts()));
      });
}

void delete_task(Call call) {
  Call::on_lane(&Lanes::background, std::move(call), [](Call on_worker) {
    ApiParts& parts = on_worker.parts();
    // The index first: once the events are gone, their words are unknown.
    if (parts.indexer != nullptr) {
      if (auto forgotten = parts.indexer->forget_task(on_worker.id()); !forgotten) {
        return on_worker.fail(with_advice(std::move(forgotten.error())));
      }
    }
    std::string id = on_worker.id();
    parts.journal.write(
        [id = std::move(id)](WriteTxn& txn) -> Result<void> {
          if (auto deleted = txn.delete_task(id); !deleted) return deleted;
          return forget_telemetry(txn, id);
        },
        [call = std::move(on_worker)](Result<void> deleted) mutable {
          if (!deleted) return call.fail(with_advice(std::move(deleted.error())));
          net::Response response;
          response.status = 204;
          call.send(std::move(response));
        });
  });
}

}  // namespace shepherd
