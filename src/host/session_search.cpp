#include "host/session_search.h"

#include <map>
#include <string>
#include <utility>

#include "api/snippet.h"
#include "chat/chats.h"
#include "host/limits.h"
#include "json/scan.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// Which tasks are chats; a search finds many events of the same one.
class ChatTasks {
 public:
  explicit ChatTasks(const EventStore& store) : store_(store) {}
  bool has(const std::string& task) {
    auto [found, added] = known_.emplace(task, false);
    if (added) {
      auto row = store_.row(task);
      found->second = row && row->spec.agent == kChatAgent;
    }
    return found->second;
  }

 private:
  const EventStore& store_;
  std::map<std::string, bool> known_;
};

}  // namespace

Result<std::vector<FoundMessage>> find_messages(const SearchIndex& index, const EventStore& store,
                                                std::string_view query, std::size_t limit) {
  ChatTasks chats(store);
  std::vector<FoundMessage> found;
  std::uint64_t before = 0;
  for (std::size_t seen = 0; seen < kMaxSearchedEvents && found.size() < limit;) {
    auto positions = index.search(query, before, kSearchedAtOnce);
    if (!positions) return fail(positions.error());
    if (positions->empty()) break;
    seen += positions->size();
    before = positions->back();
    for (std::uint64_t position : *positions) {
      auto page = store.read_all(position - 1, {1, 1});
      if (!page) return fail(page.error());
      if (page->batches.empty()) continue;  // deleted; the index follows later
      const EventBatch& batch = *page->batches.front();
      if (position < batch.position || position > batch.last_position()) continue;
      auto at = static_cast<std::size_t>(position - batch.position);
      if (batch.types[at] != EventType::message || !chats.has(batch.task)) continue;
      std::string_view event = batch.event(at);
      auto view = parse_event(event);
      std::string_view data = find_member(event, "data");
      std::string content = text_member(data, "content");
      if (!view || content.empty()) continue;
      found.push_back({batch.task, view->timestamp_ms, text_member(data, "role"), snippet(content, query)});
      if (found.size() >= limit) break;
    }
  }
  return found;
}

}  // namespace shepherd
