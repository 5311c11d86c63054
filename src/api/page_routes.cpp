// Reads a log without a stream: pages, one event, one event's detail.
#include <charconv>
#include <utility>

#include "api/event_page.h"
#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "model/wire_json.h"
#include "store/limits.h"

namespace shepherd {
namespace {

Result<PageRequest> page_request(const Query& query, const std::string& task) {
  PageRequest request;
  request.task = task;
  auto after = query.number("after");
  auto before = query.number("before");
  auto tail = query.number("tail");
  auto types = query.types();
  auto limit = query.limit(kPageEvents, kMaxPageEvents);
  if (!after) return fail(after.error());
  if (!before) return fail(before.error());
  if (!tail) return fail(tail.error());
  if (!types) return fail(types.error());
  if (!limit) return fail(limit.error());
  if (*tail && *after) return fail(bad_parameter("tail", "`tail` and `after` exclude each other."));
  request.after = *after;
  request.before = *before;
  request.tail = *tail;
  request.types = std::move(*types);
  // A tail is its own limit unless the request sets one.
  request.limit = *tail && !query.text("limit") ? kMaxPageEvents : *limit;
  return request;
}

// Adds each event's detail as its last member. Details are large, so a page that runs out of bytes ends early, on the
// side where the next page continues.
Result<std::vector<std::string>> with_details(EventPage& page, const EventStore& store, bool backward) {
  std::vector<std::string> texts(page.events.size());
  std::size_t bytes = 0;
  for (std::size_t done = 0; done < texts.size(); ++done) {
    std::size_t i = backward ? texts.size() - 1 - done : done;
    if (bytes > kMaxPageBytes) {
      auto keep = static_cast<std::ptrdiff_t>(done);
      if (backward) {
        page.next_before = page.events[i + 1].sequence();
        page.events.erase(page.events.begin(), page.events.end() - keep);
        texts.erase(texts.begin(), texts.end() - keep);
      } else {
        page.next_after = page.events[i - 1].sequence();
        page.events.resize(done);
        texts.resize(done);
      }
      break;
    }
    const PickedEvent& event = page.events[i];
    texts[i] = event.json();
    auto detail = store.detail(event.batch->task, event.sequence());
    if (detail) {
      texts[i].back() = ',';
      texts[i] += R"("detail":)" + *detail + "}";
    } else if (detail.error().code != ErrorCode::not_found) {
      return fail(detail.error());
    }
    bytes += texts[i].size();
  }
  return texts;
}

void append_member(std::string& out, std::string_view name, std::uint64_t number) {
  out += ",\"";
  out += name;
  out += "\":";
  out += std::to_string(number);
}

void send_page(Call call, const Query& query, const PageRequest& request, bool with_detail) {
  const EventStore& store = call.parts().journal.store();
  auto page = read_event_page(store, request);
  if (!page) return call.fail(page.error());
  bool backward = request.tail || (request.before && !request.after);
  net::Response response = json_response(200, R"({"events":[)");
  std::string& body = response.body;
  if (with_detail) {
    auto texts = with_details(*page, store, backward);
    if (!texts) return call.fail(texts.error());
    for (std::size_t i = 0; i < texts->size(); ++i) body.append(i == 0 ? "" : ",").append((*texts)[i]);
  } else {
    for (std::size_t i = 0; i < page->events.size(); ++i) {
      body.append(i == 0 ? "" : ",").append(page->events[i].json());
    }
  }
  body += ']';
  append_member(body, "firstSequence", page->first);
  append_member(body, "lastSequence", page->head);
  if (page->gap) body += R"(,"gap":)" + gap_data(page->gap->first, page->gap->second);
  std::string path = "</api/v1/tasks/" + request.task + "/events?";
  if (page->next_after) {
    append_member(body, "nextAfter", *page->next_after);
    response.headers.emplace_back("Link",
                                  path + query.with("after", std::to_string(*page->next_after)) + ">; rel=\"next\"");
  } else if (page->next_before) {
    append_member(body, "nextBefore", *page->next_before);
    response.headers.emplace_back("Link",
                                  path + query.with("before", std::to_string(*page->next_before)) + ">; rel=\"next\"");
  }
  body += '}';
  if (!page->events.empty()) call.set_range(page->events.front().sequence(), page->events.back().sequence());
  call.send(std::move(response));
}

Result<std::uint64_t> sequence_of(const Call& call) {
  std::uint64_t sequence = 0;
  const std::string& text = call.second();
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sequence);
  if (error != std::errc() || end != text.data() + text.size() || sequence == 0 || sequence > INT64_MAX) {
    return fail(bad_parameter("sequence", "An event's number is a whole number, 1 or more."));
  }
  return sequence;
}

Result<PickedEvent> find_event(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  auto page = store.read(task, sequence - 1, {1, 1});
  if (!page) return fail(page.error());
  for (const BatchPtr& batch : page->batches) {
    if (batch->first <= sequence && sequence <= batch->last()) {
      return PickedEvent{batch, static_cast<std::size_t>(sequence - batch->first)};
    }
  }
  if (sequence <= page->head) {
    return fail(ErrorCode::gone, "event_dropped", "Retention has dropped this event.");
  }
  return fail(ErrorCode::not_found, "unknown_event", "The log ends at number " + std::to_string(page->head) + ".");
}

}  // namespace

void get_event_page(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto request = page_request(*query, call.id());
  if (!request) return call.fail(request.error());
  auto detail = query->flag("detail");
  if (!detail) return call.fail(detail.error());
  bool scans = !request->types.everything();
  Call::on_lane(scans ? &Lanes::scans : &Lanes::queries, std::move(call),
                [query = std::move(*query), request = std::move(*request), detail = *detail](Call on_lane) {
                  send_page(std::move(on_lane), query, request, detail);
                });
}

void get_event(Call call) {
  auto sequence = sequence_of(call);
  if (!sequence) return call.fail(sequence.error());
  Call::on_worker(std::move(call), [sequence = *sequence](Call on_worker) {
    auto event = find_event(on_worker.parts().journal.store(), on_worker.id(), sequence);
    if (!event) return on_worker.fail(event.error());
    on_worker.set_range(sequence, sequence);
    on_worker.send_json(200, std::string(event->json()));
  });
}

void get_event_detail(Call call) {
  auto sequence = sequence_of(call);
  if (!sequence) return call.fail(sequence.error());
  Call::on_worker(std::move(call), [sequence = *sequence](Call on_worker) {
    const EventStore& store = on_worker.parts().journal.store();
    // Reads the event first, to distinguish a missing task or event from a missing detail.
    if (auto event = find_event(store, on_worker.id(), sequence); !event) return on_worker.fail(event.error());
    auto detail = store.detail(on_worker.id(), sequence);
    if (!detail) return on_worker.fail(detail.error());
    on_worker.set_range(sequence, sequence);
    on_worker.send_json(200, std::move(*detail));
  });
}

}  // namespace shepherd
