#include "driver/grpc/chunk_joiner.h"

#include <utility>

#include "driver/grpc/limits.h"

namespace shepherd {

bool ChunkJoiner::belongs(const TextChunk& chunk, std::int64_t now_ms) const {
  return chunk.reasoning == held_.reasoning && chunk.span_id == held_.span_id && chunk.trace_id == held_.trace_id &&
         now_ms - first_ms_ < kChunkJoinWait.count() && held_.text.size() + chunk.text.size() <= kChunkJoinBytes &&
         chunks_ < kChunkJoinMessages;
}

std::optional<JoinedChunks> ChunkJoiner::add(const TextChunk& chunk, std::int64_t at_ms, std::int64_t now_ms) {
  std::optional<JoinedChunks> before;
  if (chunks_ > 0 && !belongs(chunk, now_ms)) before = flush();
  if (chunks_ == 0) {
    held_ = {"", chunk.reasoning, std::string(chunk.trace_id), std::string(chunk.span_id), "", at_ms};
    first_ms_ = now_ms;
    ++blocks_;
  } else {
    held_.records.push_back(',');
  }
  held_.text.append(chunk.text);
  held_.records.append(chunk.record);
  ++chunks_;
  return before;
}

std::optional<JoinedChunks> ChunkJoiner::due(std::int64_t now_ms) {
  auto at = due_at_ms();
  return at && now_ms >= *at ? flush() : std::nullopt;
}

std::optional<JoinedChunks> ChunkJoiner::flush() {
  std::size_t chunks = std::exchange(chunks_, 0);
  if (chunks == 0) return std::nullopt;
  if (chunks > 1) held_.records = "[" + held_.records + "]";
  return std::exchange(held_, {});
}

std::optional<std::int64_t> ChunkJoiner::due_at_ms() const {
  if (chunks_ == 0) return std::nullopt;
  return first_ms_ + kChunkJoinWait.count();
}

std::string ChunkJoiner::block() const {
  return (held_.reasoning ? "reasoning:" : "output:") + std::to_string(blocks_);
}

}  // namespace shepherd
