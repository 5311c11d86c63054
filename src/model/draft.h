// Drafts are validated, redacted and condensed events that do not have a number yet.
//
// A draft's body is the compact JSON of its members without braces, e.g. `"timestamp":"…","type":"log","summary":"hi"`.
// Numbering puts the server's own members (sequence, receivedAt, producer, late) before the body, so an event is
// encoded once and not parsed again on its way to disk and consumers.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/event_type.h"

namespace shepherd {

struct Draft {
  EventType type = EventType::other;
  std::uint64_t producer_sequence = 0;  // 0: the producer gave none
  std::int64_t timestamp_ms = 0;
  bool stamped = false;  // the producer gave no timestamp, so the body has the time of arrival
  std::uint32_t body_offset = 0;
  std::uint32_t body_size = 0;
  std::uint32_t summary_offset = 0;  // the summary's JSON string inside the body, escaped, without quotes
  std::uint32_t summary_size = 0;
  std::string event_id;  // usually empty
  std::string detail;    // JSON object with full content and raw record, or empty
};

struct DraftBatch {
  std::string bytes;  // all bodies
  std::vector<Draft> drafts;

  std::string_view body(const Draft& draft) const {
    return std::string_view(bytes).substr(draft.body_offset, draft.body_size);
  }
  // Compares the body as its producer wrote it, to recognise a repeat of the same event. The stored body may have been
  // stamped at another time.
  bool same_content(const Draft& draft, std::string_view stored) const {
    std::string_view mine = body(draft);
    if (!draft.stamped) return mine == stored;
    // Every body begins with a timestamp of fixed length.
    constexpr std::size_t kStampBytes = std::string_view(R"("timestamp":"2026-02-18T14:00:00.123Z",)").size();
    return stored.size() >= kStampBytes && mine.substr(kStampBytes) == stored.substr(kStampBytes);
  }
  std::string_view summary(const Draft& draft) const {
    return std::string_view(bytes).substr(draft.summary_offset, draft.summary_size);
  }
};

}  // namespace shepherd
