// Tasks: create, list, get, patch, delete.
#include <utility>

#include "api/handlers.h"
#include "api/problem.h"
#include "api/query.h"
#include "api/status_map.h"
#include "api/task_json.h"
#include "base/ids.h"
#include "base/limits.h"
#include "model/wire_json.h"
#include "steering/callback_target.h"

namespace shepherd {
namespace {

std::string task_json(const Task& task, Steering& steering) {
  std::string body;
  append_task_json(body, task, steering);
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

}  // namespace

void create_task(Call call) {
  ApiParts& parts = call.parts();
  auto spec = decode_task_request(call.request().body);
  if (!spec) return call.fail(spec.error());
  if (!spec->callback_url.empty()) {
    if (auto target = callback_target(spec->callback_url); !target) return call.fail(target.error());
  }
  std::string key(call.request().header("idempotency-key"));
  if (key.size() > kMaxIdempotencyKeyBytes) {
    return call.fail({ErrorCode::invalid_argument,
                      "bad_idempotency_key",
                      "Idempotency-Key is longer than " + std::to_string(kMaxIdempotencyKeyBytes) + " bytes.",
                      {}});
  }
  if (spec->id.empty()) spec->id = make_task_id(parts.clock.wall_ms(), parts.random);
  parts.journal.create_task(
      std::move(*spec), std::move(key), [call = std::move(call)](Result<Created> created) mutable {
        if (!created) return call.fail(created.error());
        if (!created->existed) {
          call.core().updates.touch(created->task.spec.id);
          call.parts().steering.created(created->task);
        }
        net::Response response =
            json_response(created->existed ? 200 : 201, task_json(created->task, call.parts().steering));
        response.headers.emplace_back("Location", "/api/v1/tasks/" + created->task.spec.id);
        call.send(std::move(response));
      });
}

void list_tasks(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto filter = task_filter(*query);
  if (!filter) return call.fail(filter.error());
  Call::on_lane(std::move(call), [query = std::move(*query), filter = std::move(*filter)](Call on_lane) mutable {
    std::size_t limit = filter.limit;
    ++filter.limit;  // one more tells whether there is a next page
    auto tasks = on_lane.parts().journal.store().tasks(filter);
    if (!tasks) return on_lane.fail(tasks.error());
    bool more = tasks->size() > limit;
    if (more) tasks->resize(limit);
    net::Response response = json_response(200, "[");
    for (const Task& task : *tasks) {
      if (response.body.size() > 1) response.body += ',';
      append_task_json(response.body, task, on_lane.parts().steering);
    }
    response.body += ']';
    if (more) {
      response.headers.emplace_back(
          "Link", "</api/v1/tasks?" + query.with("before", tasks->back().spec.id) + ">; rel=\"next\"");
    }
    on_lane.send(std::move(response));
  });
}

void get_task(Call call) {
  Call::on_lane(std::move(call), [](Call on_lane) {
    auto task = on_lane.parts().journal.store().task(on_lane.id());
    if (!task) return on_lane.fail(task.error());
    on_lane.send_json(200, task_json(*task, on_lane.parts().steering));
  });
}

void patch_task(Call call) {
  ApiParts& parts = call.parts();
  std::string body = call.request().body;
  std::string id = call.id();
  parts.journal.update_task(
      std::move(id), [body = std::move(body)](TaskSpec& spec) { return apply_task_patch(spec, body); },
      [call = std::move(call)](Result<Task> task) mutable {
        if (!task) return call.fail(task.error());
        call.core().updates.touch(task->spec.id);
        call.send_json(200, task_json(*task, call.parts().steering));
      });
}

void delete_task(Call call) {
  Call::on_lane(std::move(call), [](Call on_lane) {
    ApiParts& parts = on_lane.parts();
    // The index first: once the events are gone nobody knows their words any more.
    if (parts.indexer != nullptr) {
      if (auto forgotten = parts.indexer->forget_task(on_lane.id()); !forgotten) {
        return on_lane.fail(forgotten.error());
      }
    }
    std::string id = on_lane.id();
    parts.journal.delete_task(std::move(id), [call = std::move(on_lane)](Result<void> deleted) mutable {
      if (!deleted) return call.fail(deleted.error());
      call.parts().steering.deleted(call.id());
      call.core().live.cut_task(call.id(), kCloseTaskDeleted, "task deleted");
      net::Response response;
      response.status = 204;
      call.send(std::move(response));
    });
  });
}

}  // namespace shepherd
