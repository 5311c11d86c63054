// The timeline for replays.
#include <algorithm>
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/query.h"
#include "json/write.h"
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

}  // namespace

void get_timeline(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto buckets = query->number("buckets");
  if (!buckets) return call.fail(buckets.error());
  if (*buckets && **buckets == 0) return call.fail(bad_parameter("buckets", "`buckets` must be at least 1."));
  auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(buckets->value_or(kTimelineBuckets), kMaxTimelineBuckets));
  Call::on_worker(std::move(call), [count](Call on_worker) {
    auto timeline = read_timeline(on_worker.parts().journal.store(), on_worker.id(), count);
    if (!timeline) return on_worker.fail(timeline.error());
    on_worker.set_range(timeline->first_sequence, timeline->last_sequence);
    on_worker.send_json(200, timeline_json(*timeline));
  });
}

}  // namespace shepherd
