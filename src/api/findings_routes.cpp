// Findings of all tasks: the ledger has their places, the store has their content.
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "base/ids.h"
#include "journal/cursor.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "store/limits.h"

namespace shepherd {
namespace {

// Appends nothing if the event is gone: retention or a deletion removed it, and the ledger follows later.
Result<void> append_finding(std::string& out, const EventStore& store, const FindingPlace& place) {
  auto task = store.row(place.task);
  if (!task) return task.error().code == ErrorCode::not_found ? Result<void>() : fail(task.error());
  auto page = store.read(place.task, place.sequence - 1, {1, 1});
  if (!page) return fail(page.error());
  if (page->batches.empty() || place.sequence < page->batches.front()->first) return {};
  const EventBatch& batch = *page->batches.front();
  std::string_view json = batch.event(static_cast<std::size_t>(place.sequence - batch.first));
  auto event = parse_event(json);
  if (!event) return {};
  std::string_view data = find_member(json, "data");
  if (out.back() != '[') out += ',';
  write_object(out, [&](JsonObject& item) {
    item.text("taskID", place.task);
    item.text("title", task->spec.title);
    item.number("sequence", place.sequence);
    item.time("at", event->timestamp_ms);
    item.text("severity", place.severity);
    auto confidence = number_value(find_member(data, "confidence"));
    if (confidence) item.number("confidence", *confidence);
    item.text("category", string_value(find_member(data, "category")).value_or(""));
    item.text("summary", event->summary);
    item.json("data", data.starts_with('{') ? data : "{}");
  });
  return {};
}

void send_findings(Call call, FindingFilter filter) {
  std::size_t limit = filter.limit;
  ++filter.limit;  // one more shows whether there is a next page
  auto places = call.parts().ledger->ledger().findings(filter);
  if (!places) return call.fail(places.error());
  bool more = places->size() > limit;
  if (more) places->resize(limit);
  std::string body = R"({"items":[)";
  std::uint64_t last = 0;
  for (const FindingPlace& place : *places) {
    if (body.size() > kMaxPageBytes) {
      more = true;
      break;
    }
    if (auto done = append_finding(body, call.parts().journal.store(), place); !done) return call.fail(done.error());
    last = place.position;
  }
  body += R"(],"next":)";
  if (more) {
    append_json_string(body, encode_cursor(last));
  } else {
    body += "null";
  }
  body += '}';
  call.send_json(200, std::move(body));
}

}  // namespace

void get_findings(Call call) {
  if (call.parts().ledger == nullptr) {
    return call.fail({ErrorCode::not_found, "ledger_disabled", "This server keeps no ledger.", {}});
  }
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  FindingFilter filter;
  filter.severity = query->text("severity").value_or("");
  filter.task = query->text("task").value_or("");
  if (!filter.task.empty() && !is_task_id(filter.task)) {
    return call.fail(bad_parameter("task", "`task` must be a task's id."));
  }
  if (auto after = query->text("after")) {
    auto position = decode_cursor(*after);
    if (!position) return call.fail(bad_parameter("after", position.error().message));
    filter.before = *position;
  }
  auto limit = query->limit(kFindingPage, kMaxFindingPage);
  if (!limit) return call.fail(limit.error());
  filter.limit = *limit;
  Call::on_lane(&Lanes::scans, std::move(call), [filter = std::move(filter)](Call on_lane) mutable {
    send_findings(std::move(on_lane), std::move(filter));
  });
}

}  // namespace shepherd
