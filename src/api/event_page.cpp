#include "api/event_page.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "api/limits.h"
#include "api/query.h"
#include "journal/limits.h"
#include "store/limits.h"

namespace shepherd {
namespace {

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();

void note_bounds(EventPage& page, const Page& read) {
  page.first = read.first;
  page.head = read.head;
}

// Notes requested events after `after` that are no longer stored.
void note_gap(EventPage& page, std::uint64_t after, std::uint64_t before) {
  std::uint64_t oldest = page.first == 0 ? page.head + 1 : page.first;
  if (after + 1 < oldest && after + 1 < before) page.gap = {after + 1, std::min(oldest, before) - 1};
}

Result<EventPage> read_forward(const EventStore& store, const PageRequest& request, std::uint64_t after) {
  EventPage page;
  std::uint64_t before = request.before.value_or(kNoBound);
  std::uint64_t cursor = after;
  std::size_t bytes = 0, scanned = 0;
  bool first_read = true;
  while (true) {
    auto read = store.read(request.task, cursor, {request.limit, kFeedReadBytes});
    if (!read) return fail(read.error());
    if (first_read) {
      note_bounds(page, *read);
      if (after > page.head) return fail(cursor_ahead(page.head));
      note_gap(page, after, before);
      first_read = false;
    }
    for (const BatchPtr& batch : read->batches) {
      for (std::size_t i = 0; i < batch->size(); ++i) {
        std::uint64_t sequence = batch->first + i;
        if (sequence <= cursor) continue;
        if (sequence >= before) return page;
        if (page.events.size() == request.limit || bytes >= kMaxPageBytes || scanned >= kMaxPageScan) {
          page.next_after = cursor;
          return page;
        }
        cursor = sequence;
        ++scanned;
        if (!passes(request.types, batch->types[i], batch->event(i))) continue;
        bytes += batch->event(i).size();
        page.events.push_back({batch, i});
      }
    }
    if (read->batches.empty() || cursor >= page.head) return page;
  }
}

// Reads at most `count` events from the newest backwards, then reverses them.
Result<EventPage> read_backward(const EventStore& store, const PageRequest& request, std::size_t count,
                                std::size_t most_scanned) {
  EventPage page;
  std::uint64_t cursor = request.before.value_or(0);
  std::size_t bytes = 0, scanned = 0;
  auto turn_around = [&] { std::reverse(page.events.begin(), page.events.end()); };
  while (true) {
    auto read = store.read_before(request.task, cursor, {count, kFeedReadBytes});
    if (!read) return fail(read.error());
    if (scanned == 0) note_bounds(page, *read);
    if (cursor == 0) cursor = page.head + 1;
    std::uint64_t asked = cursor;
    for (auto batch = read->batches.rbegin(); batch != read->batches.rend(); ++batch) {
      for (std::size_t i = (*batch)->size(); i-- > 0;) {
        std::uint64_t sequence = (*batch)->first + i;
        if (sequence >= cursor) continue;
        if (page.events.size() == count || bytes >= kMaxPageBytes || scanned >= most_scanned) {
          page.next_before = cursor;
          turn_around();
          return page;
        }
        cursor = sequence;
        ++scanned;
        if (!passes(request.types, (*batch)->types[i], (*batch)->event(i))) continue;
        bytes += (*batch)->event(i).size();
        page.events.push_back({*batch, i});
      }
    }
    if (cursor == asked || cursor <= page.first || cursor <= 1) {
      turn_around();
      return page;
    }
  }
}

}  // namespace

Error cursor_ahead(std::uint64_t head) {
  return Error{ErrorCode::conflict,
               "cursor_ahead",
               "`after` is beyond the log, whose last number is " + std::to_string(head) +
                   ". Start again from a number the server gave.",
               {}}
      .with("lastSequence", static_cast<std::int64_t>(head));
}

Result<EventPage> read_event_page(const EventStore& store, const PageRequest& request) {
  if (request.tail) {
    return read_backward(store, request,
                         static_cast<std::size_t>(std::min<std::uint64_t>(*request.tail, request.limit)), kMaxTailScan);
  }
  if (request.before && !request.after) return read_backward(store, request, request.limit, kMaxPageScan);
  return read_forward(store, request, request.after.value_or(0));
}

Result<std::uint64_t> tail_start(const EventStore& store, const std::string& task, std::uint64_t count,
                                 const TypeFilter& types) {
  auto newest = store.read_before(task, 0, {1, 1});
  if (!newest) return fail(newest.error());
  if (count == 0 || newest->head == 0) return newest->head;
  std::uint64_t kept_from = newest->first == 0 ? newest->head : newest->first - 1;
  if (types.everything()) return std::max(kept_from, newest->head - std::min(newest->head, count));
  PageRequest request;
  request.task = task;
  request.types = types;
  auto page = read_backward(store, request, static_cast<std::size_t>(std::min<std::uint64_t>(count, kMaxPageEvents)),
                            kMaxTailScan);
  if (!page) return fail(page.error());
  if (page->next_before) return *page->next_before - 1;
  return kept_from;
}

Result<std::uint64_t> tail_start(const EventStore& store, const std::set<std::string>& tasks, std::uint64_t newest,
                                 std::uint64_t count, const TypeFilter& types) {
  auto most = static_cast<std::size_t>(std::min<std::uint64_t>(count, kMaxPageEvents));
  std::vector<std::uint64_t> positions;
  for (auto task = tasks.begin(); task != tasks.end() && most != 0; ++task) {
    PageRequest request;
    request.task = *task;
    request.types = types;
    auto page = read_backward(store, request, most, kMaxTailScan);
    if (!page) return fail(page.error());
    for (const PickedEvent& event : page->events) positions.push_back(event.batch->position + event.index);
  }
  if (positions.empty()) return newest;
  auto oldest = positions.begin() + static_cast<std::ptrdiff_t>(std::min(most, positions.size()) - 1);
  std::ranges::nth_element(positions, oldest, std::greater());
  return *oldest - 1;
}

}  // namespace shepherd
