// What needs a person now.
#include <optional>
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "base/ids.h"
#include "json/request.h"
#include "json/scan.h"
#include "json/write.h"
#include "store/limits.h"

namespace shepherd {
namespace {

Error no_inbox() {
  return {ErrorCode::not_found, "inbox_disabled", "This server keeps no inbox.", {}};
}

// The input of the requested call, as in its event; empty if the event is gone.
std::string input_of(const EventStore& store, const TaskNeed& need) {
  auto page = store.read(need.task, need.sequence - 1, {1, 1});
  if (!page || page->batches.empty() || need.sequence < page->batches.front()->first) return {};
  const EventBatch& batch = *page->batches.front();
  std::string_view event = batch.event(static_cast<std::size_t>(need.sequence - batch.first));
  std::string_view input = find_member(find_member(event, "data"), "input");
  if (input.empty()) input = find_member(event, "input");
  return std::string(input);
}

void append_need(std::string& out, const EventStore& store, const TaskNeed& need) {
  write_object(out, [&](JsonObject& item) {
    item.text("taskID", need.task);
    item.text("title", need.title);
    item.text("agent", need.agent);
    item.text("model", need.model);
    item.text("kind", name(need.kind));
    item.time("since", need.since_ms);
    item.text("summary", need.summary);
    item.number("sequence", need.sequence);
    if (!need.approval) return;
    write_object(item.member("approval"), [&](JsonObject& approval) {
      approval.text("approvalID", need.approval->id);
      approval.text("kind", need.approval->kind);
      approval.text("tool", need.approval->tool);
      approval.text("summary", need.approval->summary);
      std::string input = input_of(store, need);
      approval.json("input", input.empty() ? "{}" : input);
      approval.time("expiresAt", need.approval->expires_ms);
    });
  });
}

Result<std::string> task_named(std::string_view body) {
  JsonParser parser(body.size());
  auto object = request_object(parser, body);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  std::string task;
  request.text("taskID", task);
  if (!error && !is_task_id(task)) request.refuse("taskID", "a task's id");
  if (error) return fail(std::move(*error));
  return task;
}

}  // namespace

void get_inbox(Call call) {
  Inbox* inbox = call.parts().inbox;
  if (inbox == nullptr) return call.fail(no_inbox());
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto limit = query->limit(kInboxPage, kMaxInboxPage);
  if (!limit) return call.fail(limit.error());
  const Principal& principal = *call.principal();
  std::string only = principal.may(Right::view, "") ? "" : principal.only_task;
  if (!principal.may(Right::view, only)) {
    return call.fail({ErrorCode::permission_denied, "forbidden", "This token may not see the inbox.", {}});
  }
  Call::on_worker(std::move(call), [inbox, only, limit = *limit](Call on_worker) {
    std::vector<TaskNeed> needs = inbox->needs(only);
    std::string body = R"({"items":[)";
    for (std::size_t i = 0; i < needs.size() && i < limit && body.size() < kMaxPageBytes; ++i) {
      if (i != 0) body += ',';
      append_need(body, on_worker.parts().journal.store(), needs[i]);
    }
    body += R"(],"total":)" + std::to_string(needs.size()) + "}";
    on_worker.send_json(200, std::move(body));
  });
}

void dismiss_need(Call call) {
  Inbox* inbox = call.parts().inbox;
  if (inbox == nullptr) return call.fail(no_inbox());
  auto task = task_named(call.request().body);
  if (!task) return call.fail(task.error());
  inbox->dismiss(*task, [call = std::move(call)](Result<void> done) mutable {
    if (!done) return call.fail(done.error());
    call.send_json(200, R"({"status":"dismissed"})");
  });
}

}  // namespace shepherd
