// Chunks of streamed text joined into pieces worth one event, with the records they came in.
//
// What belongs together: the same kind of text, from the same span, within kChunkJoinWait of the first chunk, up to
// kChunkJoinBytes and kChunkJoinMessages.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

struct TextChunk {
  std::string_view text;
  bool reasoning = false;
  std::string_view trace_id, span_id;
  std::string_view record;  // JSON
};

struct JoinedChunks {
  std::string text;
  bool reasoning = false;
  std::string trace_id, span_id;
  std::string records;     // JSON: the record, or an array of them
  std::int64_t at_ms = 0;  // of the first chunk, by the agent's clock
};

class ChunkJoiner {
 public:
  // What was held before, when the chunk does not belong to it. `at_ms` is the agent's time, `now_ms` ours.
  std::optional<JoinedChunks> add(const TextChunk& chunk, std::int64_t at_ms, std::int64_t now_ms);
  std::optional<JoinedChunks> due(std::int64_t now_ms);
  std::optional<JoinedChunks> flush();

  std::optional<std::int64_t> due_at_ms() const;
  // The name of what is being joined, for live watchers, who see it grow.
  std::string block() const;

 private:
  bool belongs(const TextChunk& chunk, std::int64_t now_ms) const;

  JoinedChunks held_;
  std::size_t chunks_ = 0;  // in it
  std::int64_t first_ms_ = 0;
  std::uint64_t blocks_ = 0;  // begun so far
};

}  // namespace shepherd
