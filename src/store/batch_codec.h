// The format of a batch on disk: its events as one JSON array, which SQL can read, and a small binary index (lengths
// and types), which saves readers the parsing. The first byte of the index is the version of both.
//
//   index   2 | flags | checksum (4 bytes, little-endian) | for each event: length (varint), type (byte)
//   events  [{…},{…}]
//
// The checksum covers the batch's first number, position and time (8 bytes each, little-endian), the index without the
// checksum, and the events. Version 1, written by earlier servers, has no checksum and is read without one.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event_type.h"
#include "store/event_batch.h"

namespace shepherd {

// Overwrites `index` and `events`.
void encode_batch(const EventBatch& batch, std::string& index, std::string& events);
TypeMask mask_of(const EventBatch& batch);

// Fills by_server, bytes, ends and types; the caller sets the other members before. internal/corrupt, which names the
// task and the events, if the bytes changed since they were written or the version is unknown.
Result<void> decode_batch(std::string_view index, std::string_view events, EventBatch& batch);

// What the index alone contains.
struct IndexSummary {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // total size of the event JSONs
};
Result<IndexSummary> read_index(std::string_view index);

}  // namespace shepherd
