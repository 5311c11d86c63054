// For replays: the timeline, and the task as it was after an event.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/query.h"
#include "api/task_json.h"
#include "json/write.h"
#include "views/state_at.h"
#include "views/timeline.h"

namespace shepherd {
namespace {

void append_bucket(std::string& out, const TimelineBucket& bucket) {
  write_object(out, [&](JsonObject& item) {
    item.time("at", bucket.at_ms);
    item.number("first", bucket.first);
    item.number("events", bucket.events);
    item.number("errors", bucket.errors);
  });
}

void append_mark(std::string& out, const TimelineMark& mark) {
  write_object(out, [&](JsonObject& item) {
    item.number("sequence", mark.sequence);
    item.time("at", mark.at_ms);
    item.text("kind", mark.kind);
  });
}

template <class Item>
void append_list(std::string& out, const std::vector<Item>& items, void (*append)(std::string&, const Item&)) {
  out += '[';
  for (const Item& item : items) {
    if (&item != &items.front()) out += ',';
    append(out, item);
  }
  out += ']';
}

std::string timeline_json(const Timeline& timeline) {
  std::string out = object_text([&](JsonObject& object) {
    object.time("from", timeline.from_ms);
    object.time("to", timeline.to_ms);
    object.number("firstSequence", timeline.first_sequence);
    object.number("lastSequence", timeline.last_sequence);
    append_list(object.member("buckets"), timeline.buckets, append_bucket);
    append_list(object.member("marks"), timeline.marks, append_mark);
  });
  return out;
}

// Stores a state that a log of an earlier program lacks, so that later reads are short. Nothing waits for it, and if it
// fails, the next reader finds the state again.
void keep_checkpoint(Journal& journal, const Task& task, Checkpoint checkpoint) {
  journal.write([id = task.spec.id, created_ms = task.created_ms, checkpoint = std::move(checkpoint)](
                    WriteTxn& txn) { return txn.add_checkpoint(id, created_ms, checkpoint); },
                [](const Result<void>&) {});
}

}  // namespace

void get_timeline(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto buckets = query->number("buckets");
  if (!buckets) return call.fail(buckets.error());
  if (*buckets && **buckets == 0) return call.fail(bad_parameter("buckets", "`buckets` must be at least 1."));
  auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(buckets->value_or(kTimelineBuckets), kMaxTimelineBuckets));
  auto scan = std::make_unique<TimelineScan>(call.parts().journal.store(), call.id());
  Call::in_steps(&Lanes::scans, std::move(call), [count, scan = std::move(scan)](Call& step) {
    auto done = scan->step();
    if (!done) {
      step.fail(done.error());
      return true;
    }
    if (!*done) return false;
    Timeline timeline = scan->timeline(count);
    step.set_range(timeline.first_sequence, timeline.last_sequence);
    step.send_json(200, timeline_json(timeline));
    return true;
  });
}

void get_task_at(Call call, std::uint64_t sequence) {
  auto scan = std::make_unique<StateScan>(call.parts().journal.store(), call.id(), sequence);
  Call::in_steps(&Lanes::scans, std::move(call), [sequence, scan = std::move(scan)](Call& step) {
    auto done = scan->step();
    if (auto missing = scan->take_missing()) {
      keep_checkpoint(step.parts().journal, scan->found().task, *std::move(missing));
    }
    if (!done) {
      step.fail(done.error());
      return true;
    }
    if (!*done) return false;
    const TaskAt& at = scan->found();
    std::string body;
    append_task_json(body, at.task, step.parts().steering, step.parts().redaction());
    body.back() = ',';  // the object continues
    body += R"("at":)" + std::to_string(sequence) + R"(,"whole":)" + (at.whole ? "true}" : "false}");
    step.send_json(200, std::move(body));
    return true;
  });
}

}  // namespace shepherd
