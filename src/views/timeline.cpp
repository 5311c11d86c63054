#include "views/timeline.h"

#include <algorithm>

#include "base/clock.h"
#include "journal/limits.h"
#include "json/scan.h"
#include "store/limits.h"
#include "views/limits.h"

namespace shepherd {
namespace {

constexpr ReadLimit kPage{kMaxPageEvents, kFeedReadBytes};

std::string_view mark_of(EventType type, std::string_view event) {
  switch (type) {
    case EventType::error:
      return "error";
    case EventType::approval: {
      // Only requests are marked, because the answer is a command.
      std::string state = string_value(find_member(find_member(event, "data"), "state")).value_or("");
      return state == "pending" || state == "open" ? "approval" : "";
    }
    case EventType::command:
      return "command";
    case EventType::result:
      return "result";
    default:
      return "";
  }
}

// Thins `marks` out to at most `room`, evenly, keeping both ends.
std::vector<TimelineMark> thinned(const std::vector<TimelineMark>& marks, std::size_t room) {
  if (marks.size() <= room) return marks;
  std::vector<TimelineMark> kept;
  kept.reserve(room);
  for (std::size_t i = 0; i < room; ++i) {
    kept.push_back(marks[room == 1 ? marks.size() - 1 : i * (marks.size() - 1) / (room - 1)]);
  }
  return kept;
}

struct Scan {
  std::vector<std::int64_t> times;  // of every event, never decreasing
  std::vector<bool> errors;
  std::vector<TimelineMark> urgent, others;

  void add(std::uint64_t sequence, EventType type, std::string_view event) {
    std::int64_t at_ms = times.empty() ? 0 : times.back();
    auto time = parse_timestamp(string_value(find_member(event, "timestamp")).value_or(""));
    if (time) at_ms = std::max(at_ms, *time);
    times.push_back(at_ms);
    errors.push_back(type == EventType::error);
    std::string_view kind = mark_of(type, event);
    if (kind.empty()) return;
    (kind == "error" || kind == "approval" ? urgent : others).push_back({sequence, at_ms, kind});
  }

  std::vector<TimelineMark> marks() const {
    std::vector<TimelineMark> chosen = thinned(urgent, kMaxTimelineMarks);
    std::vector<TimelineMark> rest = thinned(others, kMaxTimelineMarks - chosen.size());
    chosen.insert(chosen.end(), rest.begin(), rest.end());
    std::ranges::sort(chosen, {}, &TimelineMark::sequence);
    return chosen;
  }

  std::vector<TimelineBucket> buckets(std::uint64_t first, std::size_t count) const {
    std::vector<TimelineBucket> filled(count);
    std::int64_t from_ms = times.front();
    std::int64_t length_ms = times.back() - from_ms + 1;
    auto slots = static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i)
      filled[i].at_ms = from_ms + length_ms * static_cast<std::int64_t>(i) / slots;
    for (std::size_t i = 0; i < times.size(); ++i) {
      TimelineBucket& bucket = filled[static_cast<std::size_t>((times[i] - from_ms) * slots / length_ms)];
      if (bucket.events++ == 0) bucket.first = first + i;
      if (errors[i]) ++bucket.errors;
    }
    std::uint64_t next = first + times.size() - 1;
    for (auto bucket = filled.rbegin(); bucket != filled.rend(); ++bucket) {
      if (bucket->events == 0) bucket->first = next;
      next = bucket->first;
    }
    return filled;
  }
};

}  // namespace

Result<Timeline> read_timeline(const EventStore& store, const std::string& task, std::size_t buckets) {
  auto newest = store.read_before(task, 0, {1, 1});
  if (!newest) return fail(newest.error());
  Timeline timeline;
  std::uint64_t after = newest->head > kMaxTimelineEvents ? newest->head - kMaxTimelineEvents : 0;
  Scan scan;
  while (after < newest->head) {
    auto page = store.read(task, after, kPage);
    if (!page) return fail(page.error());
    if (page->batches.empty()) break;
    for (const BatchPtr& batch : page->batches) {
      for (std::size_t i = 0; i < batch->size(); ++i) {
        std::uint64_t sequence = batch->first + i;
        if (sequence <= after || sequence > newest->head) continue;
        if (timeline.first_sequence == 0) timeline.first_sequence = sequence;
        timeline.last_sequence = sequence;
        scan.add(sequence, batch->types[i], batch->event(i));
      }
    }
    after = page->batches.back()->last();
  }
  if (scan.times.empty()) return timeline;
  timeline.from_ms = scan.times.front();
  timeline.to_ms = scan.times.back();
  timeline.buckets = scan.buckets(timeline.first_sequence, buckets);
  timeline.marks = scan.marks();
  return timeline;
}

}  // namespace shepherd
