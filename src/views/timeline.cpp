#include "views/timeline.h"

#include <algorithm>
#include <utility>

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

}  // namespace

void TimelineScan::add(std::uint64_t sequence, EventType type, std::string_view event) {
  std::int64_t at_ms = times_.empty() ? 0 : times_.back();
  auto time = parse_timestamp(string_value(find_member(event, "timestamp")).value_or(""));
  if (time) at_ms = std::max(at_ms, *time);
  if (times_.empty()) first_ = sequence;
  times_.push_back(at_ms);
  errors_.push_back(type == EventType::error);
  std::string_view kind = mark_of(type, event);
  if (kind.empty()) return;
  (kind == "error" || kind == "approval" ? urgent_ : others_).push_back({sequence, at_ms, kind});
}

std::vector<TimelineMark> TimelineScan::marks() const {
  std::vector<TimelineMark> chosen = thinned(urgent_, kMaxTimelineMarks);
  std::vector<TimelineMark> rest = thinned(others_, kMaxTimelineMarks - chosen.size());
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  std::ranges::sort(chosen, {}, &TimelineMark::sequence);
  return chosen;
}

std::vector<TimelineBucket> TimelineScan::buckets(std::size_t count) const {
  std::vector<TimelineBucket> filled(count);
  std::int64_t from_ms = times_.front();
  std::int64_t length_ms = times_.back() - from_ms + 1;
  auto slots = static_cast<std::int64_t>(count);
  for (std::size_t i = 0; i < count; ++i) filled[i].at_ms = from_ms + length_ms * static_cast<std::int64_t>(i) / slots;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    TimelineBucket& bucket = filled[static_cast<std::size_t>((times_[i] - from_ms) * slots / length_ms)];
    if (bucket.events++ == 0) bucket.first = first_ + i;
    if (errors_[i]) ++bucket.errors;
  }
  std::uint64_t next = first_ + times_.size() - 1;
  for (auto bucket = filled.rbegin(); bucket != filled.rend(); ++bucket) {
    if (bucket->events == 0) bucket->first = next;
    next = bucket->first;
  }
  return filled;
}

Result<bool> TimelineScan::step() {
  if (!std::exchange(begun_, true)) {
    auto newest = store_.read_before(task_, 0, {1, 1});
    if (!newest) return fail(newest.error());
    head_ = newest->head;
    after_ = head_ > kMaxTimelineEvents ? head_ - kMaxTimelineEvents : 0;
  }
  if (after_ >= head_) return true;
  auto page = store_.read(task_, after_, kPage);
  if (!page) return fail(page.error());
  if (page->batches.empty()) return true;
  for (const BatchPtr& batch : page->batches) {
    for (std::size_t i = 0; i < batch->size(); ++i) {
      std::uint64_t sequence = batch->first + i;
      if (sequence > after_ && sequence <= head_) add(sequence, batch->types[i], batch->event(i));
    }
  }
  after_ = page->batches.back()->last();
  return after_ >= head_;
}

Timeline TimelineScan::timeline(std::size_t bucket_count) const {
  Timeline timeline;
  if (times_.empty()) return timeline;
  timeline.first_sequence = first_;
  timeline.last_sequence = first_ + times_.size() - 1;
  timeline.from_ms = times_.front();
  timeline.to_ms = times_.back();
  timeline.buckets = buckets(bucket_count);
  timeline.marks = marks();
  return timeline;
}

}  // namespace shepherd
