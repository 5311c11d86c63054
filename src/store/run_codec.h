// How disk stores keep a run: its events as one JSON array, which SQL can read, and a small binary index (lengths and
// types), which spares readers the parsing. Both are versioned by the index's first byte.
//
//   index   1 | flags | for each event: length (varint), type (byte)
//   events  [{…},{…}]
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event_type.h"
#include "store/event_run.h"
#include "store/run_builder.h"

namespace shepherd {

void encode_index(std::string& out, const StoredRun& stored);
void encode_events(std::string& out, const EventRun& run);
TypeMask mask_of(const EventRun& run);

// Fills by_server, bytes, ends and types. internal/corrupt when the two do not fit together or the version is unknown.
Result<void> decode_run(std::string_view index, std::string_view events, EventRun& run);

// What the index alone says.
struct IndexSummary {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // of the event JSONs
};
Result<IndexSummary> read_index(std::string_view index);

}  // namespace shepherd
