// Full-text search over all logs.
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "api/snippet.h"
#include "base/limits.h"
#include "follow/limits.h"
#include "journal/cursor.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

struct SearchRequest {
  std::string words;
  std::uint64_t before = 0;
  std::size_t limit = 0;
};

Result<SearchRequest> search_request(const Query& query) {
  SearchRequest request;
  request.words = query.text("q").value_or("");
  if (request.words.empty()) return fail(bad_parameter("q", "Say what to search for: ?q=words."));
  if (request.words.size() > kMaxQueryBytes) {
    return fail(bad_parameter("q", "A query has at most " + std::to_string(kMaxQueryBytes) + " bytes."));
  }
  if (auto before = query.text("before")) {
    auto position = decode_cursor(*before);
    if (!position) return fail(bad_parameter("before", position.error().message));
    request.before = *position;
  }
  auto limit = query.limit(kSearchResults, kMaxSearchResults);
  if (!limit) return fail(limit.error());
  request.limit = *limit;
  return request;
}

// Appends the hit at a position. Returns false if its event is gone, because the index lags behind the store.
Result<bool> append_hit(std::string& out, const EventStore& store, std::uint64_t position, std::string_view words) {
  auto page = store.read_all(position - 1, {1, 1});
  if (!page) return fail(page.error());
  if (page->batches.empty()) return false;
  const EventBatch& batch = *page->batches.front();
  if (position < batch.position || position > batch.last_position()) return false;
  std::string_view json = batch.event(static_cast<std::size_t>(position - batch.position));
  auto event = parse_event(json);
  if (!event) return false;
  if (out.back() != '[') out += ',';
  out += R"({"taskID":)";
  append_json_string(out, batch.task);
  out += R"(,"sequence":)" + std::to_string(event->sequence) + R"(,"timestamp":")";
  append_timestamp(out, event->timestamp_ms);
  out += R"(","type":)";
  append_json_string(out, event->type_name);
  out += R"(,"summary":)";
  append_json_string(out, event->summary);
  out += R"(,"snippet":)";
  append_json_string(out, snippet(searchable_text(json, kMaxIndexedBytes), words));
  out += '}';
  return true;
}

void run_search(Call call, const Query& query, const SearchRequest& request) {
  ApiParts& parts = call.parts();
  const EventStore& store = parts.journal.store();
  auto through = parts.search->indexed_through();
  if (!through) return call.fail(through.error());
  auto positions = parts.search->search(request.words, request.before, request.limit + 1);
  if (!positions) return call.fail(positions.error());
  bool more = positions->size() > request.limit;
  if (more) positions->resize(request.limit);

  net::Response response = json_response(200, R"({"results":[)");
  for (std::uint64_t position : *positions) {
    auto appended = append_hit(response.body, store, position, request.words);
    if (!appended) return call.fail(appended.error());
  }
  auto heads = store.heads({""});
  if (!heads) return call.fail(heads.error());
  response.body += R"(],"indexedThrough":)" + std::to_string(*through);
  response.body += R"(,"head":)" + std::to_string((*heads)[""]) + "}";
  if (more) {
    response.headers.emplace_back(
        "Link", "</api/v1/search?" + query.with("before", encode_cursor(positions->back())) + ">; rel=\"next\"");
  }
  call.send(std::move(response));
}

}  // namespace

void search(Call call) {
  if (call.parts().search == nullptr) {
    return call.fail({ErrorCode::not_found, "search_disabled", "This server keeps no search index.", {}});
  }
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto request = search_request(*query);
  if (!request) return call.fail(request.error());
  Call::on_lane(&Lanes::searches, std::move(call),
                [query = std::move(*query), request = std::move(*request)](Call on_lane) {
                  run_search(std::move(on_lane), query, request);
                });
}

}  // namespace shepherd
