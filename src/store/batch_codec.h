// How disk stores keep a batch: its events as one JSON array, which SQL can read, and a small binary index (lengths and
// types), which spares readers the parsing. Both are versioned by the index's first byte.
//
//   index   2 | flags | checksum (4 bytes, lowest first) | for each event: length (varint), type (byte)
//   events  [{…},{…}]
//
// The checksum is over the batch's first number, position and time (8 bytes each, lowest first), the index without it,
// and the events. Version 1, which earlier servers wrote, has none; it is read as it is. Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event_type.h"
#include "store/event_batch.h"

namespace shepherd {

// Replaces what is in both.
void encode_batch(const EventBatch& batch, std::string& index, std::string& events);
TypeMask mask_of(const EventBatch& batch);

// Fills by_server, bytes, ends and types; the other members must be there. internal/corrupt, which names the task and
// the events, when these are not the bytes that were written or the version is unknown.
Result<void> decode_batch(std::string_view index, std::string_view events, EventBatch& batch);

// What the index alone says.
struct IndexSummary {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // of the event JSONs
};
Result<IndexSummary> read_index(std::string_view index);

}  // namespace shepherd
